// A left-leaning red-black tree as an ordered map with iteration and rank.
const RED = true;

class TreeMap {
  #root = null;
  #compare;
  constructor(compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0)) { this.#compare = compare; }

  static #size = (n) => n?.size ?? 0;
  static #update(n) {
    n.size = 1 + TreeMap.#size(n.left) + TreeMap.#size(n.right);
    return n;
  }
  static #rotate(n, from, to) {
    const up = n[from];
    [n[from], up[to], up.colour, n.colour] = [up[to], n, n.colour, RED];
    TreeMap.#update(n);
    return TreeMap.#update(up);
  }
  #insert(n, key, value) {
    if (!n) return { key, value, colour: RED, left: null, right: null, size: 1 };
    const c = this.#compare(key, n.key);
    if (c === 0) n.value = value;
    else if (c < 0) n.left = this.#insert(n.left, key, value);
    else n.right = this.#insert(n.right, key, value);
    if (n.right?.colour && !n.left?.colour) n = TreeMap.#rotate(n, 'right', 'left');
    if (n.left?.colour && n.left.left?.colour) n = TreeMap.#rotate(n, 'left', 'right');
    if (n.left?.colour && n.right?.colour) [n.colour, n.left.colour, n.right.colour] = [RED, !RED, !RED];
    return TreeMap.#update(n);
  }
  set(key, value) {
    this.#root = this.#insert(this.#root, key, value);
    this.#root.colour = !RED;
    return this;
  }
  get(key) {
    let n = this.#root;
    while (n) {
      const c = this.#compare(key, n.key);
      if (c === 0) return n.value;
      n = c < 0 ? n.left : n.right;
    }
  }
  at(rank) {
    let n = this.#root;
    while (n) {
      const left = TreeMap.#size(n.left);
      if (rank === left) return n.key;
      [n, rank] = rank < left ? [n.left, rank] : [n.right, rank - left - 1];
    }
  }
  get size() { return TreeMap.#size(this.#root); }
  get height() {
    const depth = (n) => (n ? 1 + Math.max(depth(n.left), depth(n.right)) : 0);
    return depth(this.#root);
  }
  *[Symbol.iterator]() {
    function* walk(n) {
      if (!n) return;
      yield* walk(n.left);
      yield [n.key, n.value];
      yield* walk(n.right);
    }
    yield* walk(this.#root);
  }
}

const map = new TreeMap();
'the tree keeps all of these words in order 秩序 étagère even though they come as they please'.split(' ').forEach((word, i) => map.set(word, i));
console.log([...map].map(([word, i]) => `${word}:${i}`).join(' '));
console.log(map.get('order'), map.get('absent'), map.at(0), map.at(map.size - 1));
const big = new TreeMap((a, b) => b - a);
for (let i = 0; i < 10000; i++) big.set((i * 7919) % 10007, i);
console.log(big.size, 'keys, height at most 28:', big.height <= 28, big.at(0), big.at(5000));
const keys = [...big].map(([k]) => k);
console.log('descending:', keys.every((k, i) => i === 0 || keys[i - 1] > k));
