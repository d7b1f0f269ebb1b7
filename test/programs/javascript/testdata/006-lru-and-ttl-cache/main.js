// A cache with a size limit and entries that expire on a clock of its own.
class Cache {
  #entries = new Map();
  #now;

  constructor({ capacity, ttl, now }) {
    Object.assign(this, { capacity, ttl, hits: 0, misses: 0 });
    this.#now = now;
  }

  get(key) {
    const entry = this.#entries.get(key);
    if (!entry || entry.expires <= this.#now()) {
      this.#entries.delete(key);
      this.misses++;
      return undefined;
    }
    this.hits++;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  set(key, value) {
    this.#entries.delete(key);
    this.#entries.set(key, { value, expires: this.#now() + this.ttl });
    if (this.#entries.size > this.capacity) this.#entries.delete(this.#entries.keys().next().value);
    return this;
  }

  *[Symbol.iterator]() {
    for (const [key, { value }] of this.#entries) yield [key, value];
  }
}

let clock = 0;
const cache = new Cache({ capacity: 3, ttl: 10, now: () => clock });
cache.set('a', 1).set('b', 2).set('c', 3);
console.log('get a:', cache.get('a'));
cache.set('d', 4);
console.log('b was evicted:', cache.get('b'), [...cache]);
clock = 9;
console.log('still there:', cache.get('c'));
cache.set('a', 10);
clock = 12;
console.log('c expired:', cache.get('c'), 'a was renewed:', cache.get('a'));
console.log([...cache], { hits: cache.hits, misses: cache.misses });
console.log('private:', Object.keys(cache), '#entries' in cache);
