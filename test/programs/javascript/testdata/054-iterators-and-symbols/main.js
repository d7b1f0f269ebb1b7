// Iterators, generators as coroutines, well-known symbols, lazy sequences.
class Range {
  constructor(from, to, step = 1) { Object.assign(this, { from, to, step }); }
  *[Symbol.iterator]() { for (let n = this.from; n < this.to; n += this.step) yield n; }
  [Symbol.toPrimitive](hint) { return hint === 'number' ? (this.to - this.from) / this.step : `${this.from}..${this.to}`; }
  get [Symbol.toStringTag]() { return 'Range'; }
  static [Symbol.hasInstance](x) { return typeof x?.from === 'number' && typeof x?.to === 'number'; }
}

class Seq {
  constructor(source) { this.source = source; }
  *[Symbol.iterator]() { yield* this.source; }
  #chain(generator) {
    const source = this.source;
    return new Seq({ [Symbol.iterator]: () => generator(source) });
  }
  map(f) { return this.#chain(function* (s) { for (const x of s) yield f(x); }); }
  filter(f) { return this.#chain(function* (s) { for (const x of s) if (f(x)) yield x; }); }
  take(n) { return this.#chain(function* (s) { if (n > 0) { let i = 0; for (const x of s) { yield x; if (++i >= n) return; } } }); }
  zip(other) { return this.#chain(function* (s) { const it = other[Symbol.iterator](); for (const x of s) { const { value, done } = it.next(); if (done) return; yield [x, value]; } }); }
  chunk(n) { return this.#chain(function* (s) { let c = []; for (const x of s) if (c.push(x) === n) { yield c; c = []; } if (c.length) yield c; }); }
}

function* naturals() { for (let n = 1; ; n++) yield n; }
function* primes(source = new Seq(naturals()).filter((n) => n > 1)) {
  const it = source[Symbol.iterator]();
  const found = [];
  for (let { value: n } = it.next(); ; { value: n } = it.next()) {
    if (found.every((p) => n % p)) {
      found.push(n);
      yield n;
    }
  }
}

const range = new Range(0, 10, 3);
console.log([...range], +range, `${range}`, String(Object.prototype.toString.call(range)), { from: 1, to: 2 } instanceof Range);
console.log([...new Seq(naturals()).map((n) => n * n).filter((n) => n % 2).take(5)], [...new Seq(primes()).take(12)]);
console.log([...new Seq('añ🦀').zip(naturals()).chunk(2)]);

function* account(balance) {
  for (;;) {
    try {
      balance += yield balance;
    } catch (error) {
      console.log('refused:', error.message);
    } finally {
      if (balance < 0) return 'overdrawn';
    }
  }
}
const a = account(100);
console.log(a.next(), a.next(50), a.throw(new Error('audit')), a.next(-500), a.next());
const closing = (function* () { try { yield 1; yield 2; } finally { console.log('closed'); } })();
for (const x of closing) { console.log(x); break; }
const [first, , third = 'none', ...rest] = new Range(0, 6);
console.log(first, third, rest, Math.max(...range), Array.from(range, (n) => n * 10), new Map(new Seq('ab').zip([1, 2])));
