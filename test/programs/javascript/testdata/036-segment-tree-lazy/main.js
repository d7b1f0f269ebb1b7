// A segment tree with lazy range updates, checked against an array.
class LazyTree {
  constructor(values) {
    this.n = values.length;
    this.sum = new Float64Array(4 * this.n);
    this.max = new Float64Array(4 * this.n);
    this.lazy = new Float64Array(4 * this.n);
    this.#build(values, 1, 0, this.n - 1);
  }
  #pull(v) {
    this.sum[v] = this.sum[2 * v] + this.sum[2 * v + 1];
    this.max[v] = Math.max(this.max[2 * v], this.max[2 * v + 1]);
  }
  #build(values, v, l, r) {
    if (l === r) {
      this.sum[v] = this.max[v] = values[l];
      return;
    }
    const m = (l + r) >> 1;
    this.#build(values, 2 * v, l, m);
    this.#build(values, 2 * v + 1, m + 1, r);
    this.#pull(v);
  }
  #apply(v, l, r, delta) {
    this.sum[v] += delta * (r - l + 1);
    this.max[v] += delta;
    this.lazy[v] += delta;
  }
  #push(v, l, m, r) {
    this.#apply(2 * v, l, m, this.lazy[v]);
    this.#apply(2 * v + 1, m + 1, r, this.lazy[v]);
    this.lazy[v] = 0;
  }
  add(from, to, delta, v = 1, l = 0, r = this.n - 1) {
    if (to < l || r < from) return;
    if (from <= l && r <= to) return this.#apply(v, l, r, delta);
    const m = (l + r) >> 1;
    this.#push(v, l, m, r);
    this.add(from, to, delta, 2 * v, l, m);
    this.add(from, to, delta, 2 * v + 1, m + 1, r);
    this.#pull(v);
  }
  query(from, to, v = 1, l = 0, r = this.n - 1) {
    if (to < l || r < from) return { sum: 0, max: -Infinity };
    if (from <= l && r <= to) return { sum: this.sum[v], max: this.max[v] };
    const m = (l + r) >> 1;
    this.#push(v, l, m, r);
    const [a, b] = [this.query(from, to, 2 * v, l, m), this.query(from, to, 2 * v + 1, m + 1, r)];
    return { sum: a.sum + b.sum, max: Math.max(a.max, b.max) };
  }
}

let state = 1;
const random = (n) => (state = (state * 48271) % 2147483647) % n;
const array = Array.from({ length: 200 }, () => random(100) - 50);
const tree = new LazyTree(array);
let agreed = 0;
for (let round = 0; round < 1000; round++) {
  const [a, b] = [random(200), random(200)].sort((x, y) => x - y);
  const delta = random(21) - 10;
  tree.add(a, b, delta);
  for (let i = a; i <= b; i++) array[i] += delta;
  const [c, d] = [random(200), random(200)].sort((x, y) => x - y);
  const part = array.slice(c, d + 1);
  const { sum, max } = tree.query(c, d);
  if (sum === part.reduce((x, y) => x + y) && max === Math.max(...part)) agreed++;
}
console.log(`${agreed} of 1000 queries agree`, tree.query(0, 199), tree.query(10, 10));
