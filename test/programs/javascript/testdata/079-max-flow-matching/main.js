// Maximum flow (Edmonds-Karp), the cut that limits it, and a bipartite matching.
class Network {
  #capacity = new Map();
  edge(from, to, capacity) {
    this.#at(from).set(to, (this.#at(from).get(to) ?? 0) + capacity);
    if (!this.#at(to).has(from)) this.#at(to).set(from, 0);
    return this;
  }
  #at(node) {
    if (!this.#capacity.has(node)) this.#capacity.set(node, new Map());
    return this.#capacity.get(node);
  }
  #reach(source) {
    const previous = new Map([[source, null]]);
    for (const node of previous.keys()) for (const [next, left] of this.#at(node)) if (left > 0 && !previous.has(next)) previous.set(next, node);
    return previous;
  }
  flow(source, sink) {
    let total = 0, rounds = 0;
    for (let previous; (previous = this.#reach(source)).has(sink); rounds++) {
      const path = [];
      for (let node = sink; node !== source; node = previous.get(node)) path.push([previous.get(node), node]);
      const push = Math.min(...path.map(([a, b]) => this.#at(a).get(b)));
      for (const [a, b] of path) {
        this.#at(a).set(b, this.#at(a).get(b) - push);
        this.#at(b).set(a, this.#at(b).get(a) + push);
      }
      total += push;
    }
    return { total, rounds, side: [...this.#reach(source).keys()] };
  }
  left(from, to) { return this.#at(from).get(to); }
}

const water = [['source', 'a', 16], ['source', 'b', 13], ['a', 'c', 12], ['b', 'a', 4], ['b', 'd', 14], ['c', 'b', 9], ['c', 'sink', 20], ['d', 'c', 7], ['d', 'sink', 4]];
const network = water.reduce((n, e) => n.edge(...e), new Network());
const { total, rounds, side } = network.flow('source', 'sink');
console.log('flow', total, 'in', rounds, 'rounds');
for (const [a, b, c] of water) console.log(`  ${a} → ${b}`.padEnd(16), `${c - network.left(a, b)}/${c}`);
const cut = water.filter(([a, b]) => side.includes(a) && !side.includes(b));
console.log('cut:', cut.map(([a, b]) => a + b).join(' '), cut.reduce((s, [, , c]) => s + c, 0) === total);

const wishes = { Ana: ['dish', '飯'], Bo: ['dish'], Çağ: ['sweep', '飯'], Dee: ['sweep', 'mow'], Eli: ['mow'] };
const match = new Map();
const assign = (person, tried = new Set()) => wishes[person].some((task) => {
  if (tried.has(task)) return false;
  tried.add(task);
  if (match.has(task) && !assign(match.get(task), tried)) return false;
  match.set(task, person);
  return true;
});
const happy = Object.keys(wishes).filter((person) => assign(person));
console.log(happy.length, 'of 5 placed:', [...match].map(([task, person]) => `${person}=${task}`).sort().join(' '));

const men = { a: 'xyz', b: 'yxz', c: 'xyz' }, women = { x: 'bac', y: 'abc', z: 'abc' };
const engaged = {}, free = Object.keys(men), next = { a: 0, b: 0, c: 0 };
while (free.length) {
  const m = free.shift(), w = men[m][next[m]++];
  if (!engaged[w]) engaged[w] = m;
  else if (women[w].indexOf(m) < women[w].indexOf(engaged[w])) (free.push(engaged[w]), (engaged[w] = m));
  else free.push(m);
}
console.log('stable:', engaged);
