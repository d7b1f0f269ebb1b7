// A ternary search tree and a radix tree for completion, ranked by weight.
class Radix {
  constructor() { this.edges = new Map(); }

  insert(word, weight) {
    for (const [label, child] of this.edges) {
      let n = 0;
      while (n < label.length && label[n] === word[n]) n++;
      if (n === 0) continue;
      if (n < label.length) {
        const middle = new Radix();
        middle.edges.set(label.slice(n), child);
        this.edges.delete(label);
        this.edges.set(label.slice(0, n), middle);
        return middle.insert(word.slice(n), weight);
      }
      return child.insert(word.slice(n), weight);
    }
    if (word === '') return void (this.weight = weight);
    const leaf = new Radix();
    leaf.weight = weight;
    this.edges.set(word, leaf);
  }

  *entries(prefix = '') {
    if (this.weight !== undefined) yield [prefix, this.weight];
    for (const label of [...this.edges.keys()].sort()) yield* this.edges.get(label).entries(prefix + label);
  }

  *complete(prefix, path = '') {
    if (prefix === '') return yield* this.entries(path);
    for (const [label, child] of this.edges) {
      if (label.startsWith(prefix)) yield* child.entries(path + label);
      else if (prefix.startsWith(label)) yield* child.complete(prefix.slice(label.length), path + label);
    }
  }

  show(indent = '') {
    for (const label of [...this.edges.keys()].sort()) {
      const child = this.edges.get(label);
      console.log(indent + label + (child.weight === undefined ? '' : ` (${child.weight})`));
      child.show(indent + '  ');
    }
  }
}

const tree = new Radix();
const words = { romane: 5, romanus: 3, romulus: 9, rubens: 2, ruber: 7, rubicon: 4, rubicundus: 1, 你好: 6, 你们: 8, élan: 2, élève: 4 };
for (const [word, weight] of Object.entries(words)) tree.insert(word, weight);
tree.show();
const top = (prefix, n) => [...tree.complete(prefix)].sort((a, b) => b[1] - a[1]).slice(0, n).map(([w]) => w);
for (const prefix of ['r', 'rom', 'rubi', 'é', '你', 'x', 'romanes']) console.log(prefix.padEnd(8), top(prefix, 3).join(', ') || '–');
console.log([...tree.entries()].length === Object.keys(words).length);
