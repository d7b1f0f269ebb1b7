// Maps and sets: insertion order, odd keys, weak collections, set algebra, a multi-map.
const map = new Map([[NaN, 'nan'], [0, 'zero'], ['0', 'text zero'], [null, 'null']]);
const key = { k: 1 };
map.set(key, 'object').set(-0, 'minus zero too').set(undefined, 'undefined');
console.log(map.get(NaN), map.get(-0), map.get('0'), map.get({ k: 1 }), map.get(key), map.size);
console.log([...map.keys()].map(String).join(' | '));
map.delete(0);
map.set(0, 'again');
console.log([...map.values()].at(-1), Object.keys({ b: 1, 2: 1, a: 1, 1: 1 }));

const union = (a, b) => new Set([...a, ...b]);
const intersection = (a, b) => new Set([...a].filter((x) => b.has(x)));
const difference = (a, b) => new Set([...a].filter((x) => !b.has(x)));
const [evens, squares] = [new Set([0, 2, 4, 6, 8]), new Set([0, 1, 4, 9])];
console.log(union(evens, squares), intersection(evens, squares), difference(evens, squares));
const powerSet = (items) => items.reduce((sets, x) => [...sets, ...sets.map((s) => [...s, x])], [[]]);
console.log(powerSet(['a', 'b', 'c']).map((s) => s.join('')).sort().join(',') || 'empty');

class MultiMap {
  #map = new Map();
  add(key, value) {
    (this.#map.get(key) ?? this.#map.set(key, new Set()).get(key)).add(value);
    return this;
  }
  get(key) { return [...(this.#map.get(key) ?? [])]; }
  invert() {
    const out = new MultiMap();
    for (const [key, values] of this.#map) for (const value of values) out.add(value, key);
    return out;
  }
  get keys() { return [...this.#map.keys()]; }
}
const speaks = new MultiMap().add('Ana', 'español').add('Ana', '中文').add('Ben', 'English').add('Chi', '中文').add('Ana', '中文');
console.log(speaks.get('Ana'), speaks.invert().get('中文'), speaks.get('nobody'), speaks.invert().keys);

const privates = new WeakMap();
class Safe {
  constructor(code) { privates.set(this, { code, tries: 0 }); }
  open(code) {
    const own = privates.get(this);
    if (own.tries >= 2) return 'locked';
    if (own.code === code) return 'open';
    own.tries++;
    return 'wrong';
  }
}
const safe = new Safe(42);
console.log(safe.open(1), safe.open(42), safe.open(2), safe.open(42), Object.keys(safe));
const seen = new WeakSet();
const deep = (o) => (typeof o !== 'object' || o === null ? 1 : seen.has(o) ? 0 : (seen.add(o), 1 + Object.values(o).reduce((n, v) => n + deep(v), 0)));
const ring = { a: { b: [1, 2, { c: 3 }] } };
ring.a.ring = ring;
console.log('nodes:', deep(ring), new WeakRef(ring).deref() === ring);
try {
  new WeakMap().set(1, 1);
} catch (error) {
  console.log(error.name);
}
