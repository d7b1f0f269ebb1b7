// Hash-based structures: Bloom filter, consistent hashing, reservoir sampling, MinHash.
const hash = (text, seed = 0) => {
  let h = 2166136261 ^ seed;
  for (const byte of Buffer.from(text)) h = Math.imul(h ^ byte, 16777619);
  h ^= h >>> 16;
  h = Math.imul(h, 0x85ebca6b);
  h ^= h >>> 13;
  h = Math.imul(h, 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
};

class Bloom {
  constructor(bits, hashes) { [this.bits, this.hashes, this.field] = [bits, hashes, new Uint8Array(bits >> 3)]; }
  *#places(text) { for (let i = 0; i < this.hashes; i++) yield (hash(text, 1) + Math.imul(i, hash(text, 2) | 1) >>> 0) % this.bits; }
  add(text) { for (const p of this.#places(text)) this.field[p >> 3] |= 1 << (p & 7); }
  has(text) { return [...this.#places(text)].every((p) => this.field[p >> 3] & (1 << (p & 7))); }
}
const bloom = new Bloom(16384, 7);
for (let i = 0; i < 1500; i++) bloom.add(`schlüssel-${i}`);
const wrong = Array.from({ length: 10000 }, (_, i) => `anders-${i}`).filter((k) => bloom.has(k)).length;
console.log('members found:', Array.from({ length: 1500 }, (_, i) => bloom.has(`schlüssel-${i}`)).every(Boolean), 'false positives:', wrong, 'of 10000');

class Ring {
  #points = [];
  constructor(nodes, replicas) { for (const n of nodes) this.add(n, replicas); }
  add(node, replicas = 100) {
    for (let i = 0; i < replicas; i++) this.#points.push([hash(`${node}#${i}`), node]);
    this.#points.sort((a, b) => a[0] - b[0]);
  }
  node(key) {
    const h = hash(key);
    let [low, high] = [0, this.#points.length];
    while (low < high) {
      const m = (low + high) >> 1;
      if (this.#points[m][0] < h) low = m + 1;
      else high = m;
    }
    return this.#points[low % this.#points.length][1];
  }
}
const ring = new Ring(['köln', 'oslo', '東京'], 100);
const keys = Array.from({ length: 3000 }, (_, i) => `key${i}`);
const before = keys.map((k) => ring.node(k));
const tally = (list) => Object.entries(list.reduce((c, n) => ((c[n] = (c[n] ?? 0) + 1), c), {})).sort().map(([n, c]) => `${n} ${c}`).join(', ');
console.log(tally(before));
ring.add('lima', 100);
const after = keys.map((k) => ring.node(k));
console.log(tally(after), '| moved:', after.filter((n, i) => n !== before[i]).length, '| only to the new one:', after.every((n, i) => n === before[i] || n === 'lima'));

let state = 9;
const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
const reservoir = [];
for (let i = 0; i < 10000; i++) {
  if (reservoir.length < 8) reservoir.push(i);
  else {
    const j = Math.floor(random() * (i + 1));
    if (j < 8) reservoir[j] = i;
  }
}
console.log('sample:', reservoir.sort((a, b) => a - b).join(' '));

const shingles = (text) => new Set(Array.from({ length: text.length - 3 }, (_, i) => text.slice(i, i + 4)));
const signature = (set) => Array.from({ length: 128 }, (_, s) => Math.min(...[...set].map((x) => hash(x, s + 10))));
const [a, b, c] = ['the quick brown fox jumps over the lazy dog', 'the quick brown fox jumped over a lazy dog', 'lorem ipsum dolor sit amet consectetur'].map((t) => shingles(t));
const exact = (x, y) => [...x].filter((e) => y.has(e)).length / new Set([...x, ...y]).size;
const estimate = (x, y) => { const [p, q] = [signature(x), signature(y)]; return p.filter((v, i) => v === q[i]).length / p.length; };
console.log('similar:', exact(a, b).toFixed(3), '≈', estimate(a, b).toFixed(3), '| different:', exact(a, c).toFixed(3), '≈', estimate(a, c).toFixed(3));
