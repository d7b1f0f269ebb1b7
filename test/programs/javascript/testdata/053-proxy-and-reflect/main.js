// Proxies: defaults, validation, negative indices, a recorder, revocation, traps.
const defaults = (target, value) => new Proxy(target, { get: (t, key) => (key in t ? t[key] : value) });
const counts = defaults({}, 0);
for (const c of 'mississippi') counts[c]++;
console.log({ ...counts }, counts.z);

const python = (array) => new Proxy(array, {
  get: (t, key, receiver) => (typeof key === 'string' && /^-\d+$/.test(key) ? t[t.length + Number(key)] : Reflect.get(t, key, receiver)),
});
const list = python(['a', 'b', '🦀']);
console.log(list[-1], list[-3], list.length, list.map((x) => x + x));

const schema = { name: 'string', age: 'number' };
const person = new Proxy({}, {
  set(t, key, value) {
    if (!(key in schema)) throw new TypeError(`unknown field ${String(key)}`);
    if (typeof value !== schema[key]) throw new TypeError(`${key} must be a ${schema[key]}`);
    return Reflect.set(t, key, value);
  },
  deleteProperty: () => false,
  has: (t, key) => key in schema,
  ownKeys: () => Object.keys(schema),
  getOwnPropertyDescriptor: (t, key) => ({ value: t[key], enumerable: true, configurable: true }),
});
person.name = 'Łukasz';
for (const action of [() => (person.age = 'old'), () => (person.size = 1), () => { 'use strict'; delete person.name; }]) {
  try {
    action();
  } catch (error) {
    console.log(error.name, error.message.replace(/^'.*'/, 'trap'));
  }
}
console.log('age' in person, Object.keys(person), JSON.stringify(person));

const calls = [];
const record = (target) => new Proxy(target, {
  get: (t, key) => (typeof t[key] === 'function' ? (...args) => (calls.push([key, ...args]), t[key](...args)) : t[key]),
});
const map = record(new Map());
map.set('x', 1);
map.get('x');
console.log(calls, map.has('y'));

const path = (parts = []) => new Proxy(() => {}, { get: (_, key) => path([...parts, key]), apply: (_, __, args) => `/${parts.join('/')}?${args.join('&')}` });
console.log(path().users[42].posts('limit=3', 'ü'));

const { proxy, revoke } = Proxy.revocable({ secret: 1 }, {});
console.log(proxy.secret);
revoke();
try {
  proxy.secret;
} catch (error) {
  console.log(error.name);
}
class Point { constructor(x) { this.x = x; } }
console.log(Reflect.construct(Point, [3]), Reflect.ownKeys({ b: 1, [Symbol('s')]: 2, 1: 3 }), Reflect.apply(Math.max, null, [1, 9, 4]));
