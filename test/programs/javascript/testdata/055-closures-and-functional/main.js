// Higher-order functions: curry, compose, memoize, debounce-free throttles, transducers, lenses.
const pipe = (...fs) => (x) => fs.reduce((v, f) => f(v), x);
const curry = (f, ...bound) => (...args) => (bound.length + args.length >= f.length ? f(...bound, ...args) : curry(f, ...bound, ...args));
const memoize = (f, cache = new Map()) => Object.assign((n) => {
  if (!cache.has(n)) cache.set(n, f(n));
  return cache.get(n);
}, { cache });

const add3 = curry((a, b, c) => a + b + c);
console.log(add3(1)(2)(3), add3(1, 2)(3), add3(1)(2, 3), ['1', '2', '3'].map(Number).map(add3(10, 20)));

const partitions = memoize((key) => {
  const [n, k] = key.split(',').map(Number);
  if (n === 0) return 1;
  if (n < 0 || k === 0) return 0;
  return partitions(`${n - k},${k}`) + partitions(`${n},${k - 1}`);
});
console.log('partitions of 60:', partitions('60,60'), 'remembered:', partitions.cache.size);

const mapping = (f) => (next) => (acc, x) => next(acc, f(x));
const filtering = (f) => (next) => (acc, x) => (f(x) ? next(acc, x) : acc);
const push = (acc, x) => (acc.push(x), acc);
const transduce = (xform, items) => items.reduce(xform(push), []);
const compose = (...fs) => (x) => fs.reduceRight((v, f) => f(v), x);
console.log(transduce(compose(filtering((n) => n % 2), mapping((n) => n * n)), [1, 2, 3, 4, 5]));

const lens = (...path) => ({
  get: (o) => path.reduce((v, k) => v?.[k], o),
  set: (value, o) => path.reduceRight((inner, _, i) => ({ ...path.slice(0, i).reduce((v, k) => v[k], o), [path[i]]: inner }), value),
});
const city = lens('address', 'city');
const ada = { name: 'Ada', address: { city: 'Köln', zip: 50667 } };
console.log(city.get(ada), city.set('北京', ada), ada.address.city);

const counters = [];
for (var i = 0; i < 3; i++) counters.push(((n) => () => n++)(i * 10));
console.log(counters.map((c) => (c(), c())), (() => { let x = 0; return { up: () => ++x, get: () => x }; })().up());
const y = (f) => ((x) => x(x))((x) => f((n) => x(x)(n)));
console.log('anonymous recursion:', y((self) => (n) => (n < 2 ? 1 : n * self(n - 1)))(10));
const words = pipe((s) => s.split(' '), (w) => w.map((x) => x[0].toUpperCase() + x.slice(1)), (w) => w.join(' '));
console.log(words('the quick brown fox'), [[1, [2]], [3, [[4]]]].flat(Infinity), [3, 1, 2].reduceRight((a, x) => a + x, ''));
const group = (items, key) => items.reduce((m, x) => m.set(key(x), [...(m.get(key(x)) ?? []), x]), new Map());
console.log(group(['pear', 'fig', 'kiwi', 'plum', 'date', 'apple'], (w) => w.length));
const trampoline = (f) => (...args) => { let r = f(...args); while (typeof r === 'function') r = r(); return r; };
console.log('deep:', trampoline(function even(n) { return n === 0 ? true : () => (n === 1 ? false : () => even(n - 2)); })(100000));
