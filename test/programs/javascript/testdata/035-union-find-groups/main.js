// Union-find over friendships and equations that contradict each other.
class DisjointSet {
  constructor() {
    this.parent = new Map();
    this.size = new Map();
  }
  find(x) {
    if (!this.parent.has(x)) {
      this.parent.set(x, x);
      this.size.set(x, 1);
    }
    let root = x;
    while (this.parent.get(root) !== root) root = this.parent.get(root);
    while (x !== root) {
      const next = this.parent.get(x);
      this.parent.set(x, root);
      x = next;
    }
    return root;
  }
  union(a, b) {
    [a, b] = [this.find(a), this.find(b)];
    if (a === b) return false;
    if (this.size.get(a) < this.size.get(b)) [a, b] = [b, a];
    this.parent.set(b, a);
    this.size.set(a, this.size.get(a) + this.size.get(b));
    return true;
  }
  groups() {
    const out = new Map();
    for (const x of this.parent.keys()) {
      const root = this.find(x);
      out.set(root, [...(out.get(root) ?? []), x]);
    }
    return [...out.values()].map((g) => g.sort()).sort((a, b) => b.length - a.length || (a[0] < b[0] ? -1 : 1));
  }
}

const friends = new DisjointSet();
const links = 'Ada-Bob Çem-Dai Bob-Eve Fay-Fay Dai-Gus 李-王 Eve-Ada Gus-Bob'.split(' ');
for (const link of links) {
  const [a, b] = link.split('-');
  console.log(link.padEnd(8), friends.union(a, b) ? 'new' : 'known');
}
console.log(friends.groups());

function consistent(equations) {
  const sets = new DisjointSet();
  const parts = equations.map((e) => /(\w)(==|!=)(\w)/.exec(e).slice(1));
  for (const [a, op, b] of parts) if (op === '==') sets.union(a, b);
  return parts.every(([a, op, b]) => op === '==' || sets.find(a) !== sets.find(b));
}
console.log(consistent(['a==b', 'b==c', 'a!=d']), consistent(['a==b', 'b!=c', 'c==a']));

const accounts = [['Ann', 'a@x', 'b@x'], ['Ann', 'c@x'], ['Bo', 'd@x'], ['Ann', 'b@x', 'e@x'], ['Bo', 'd@x', 'f@x']];
const mails = new DisjointSet();
for (const [, first, ...rest] of accounts) [first, ...rest].forEach((mail) => (mails.find(mail), mails.union(first, mail)));
for (const group of mails.groups()) console.log(accounts.find((a) => a.includes(group[0]))[0], group.join(' '));
