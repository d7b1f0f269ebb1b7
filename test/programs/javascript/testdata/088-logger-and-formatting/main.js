// util.format, util.inspect, console methods, timers' order, a logger with levels on both streams.
const util = require('node:util');
const assert = require('node:assert');

console.log('%s is %d years and %i, %f, %j %o %%', 'Ada', 36.5, 36.9, '1.5', { a: [1] }, ['x'], 'extra', { b: 2 });
console.log(util.format('%c styled', 'color: red'), util.format('%s', null, undefined, Symbol('é'), 5n, -0));
console.log(util.inspect({ deep: { deeper: { deepest: { hidden: 1 } } }, list: Array(120).fill(7), map: new Map([['k', new Set([1])]]) }, { depth: 2, maxArrayLength: 3, compact: true, breakLength: Infinity }));
console.log([undefined, null, NaN, -0, 'it\'s', "q\"", [, 1], function named() {}, class A {}, Symbol('s'), /x/gi, new Date(0), new Error('e').message]);
class Temperature {
  constructor(c) { this.c = c; }
  [util.inspect.custom]() { return `<${this.c} °C>`; }
}
console.log([new Temperature(21)], { t: new Temperature(-3) }, `${util.inspect(new Temperature(0))}`);

class Logger {
  static LEVELS = ['debug', 'info', 'warn', 'error'];
  constructor(name, level = 'info') {
    this.threshold = Logger.LEVELS.indexOf(level);
    Logger.LEVELS.forEach((l, i) => (this[l] = (...args) => i >= this.threshold && (i > 1 ? console.error : console.log)(`${l.toUpperCase().padEnd(5)} [${name}]`, ...args)));
  }
}
const log = new Logger('größe');
log.debug('not shown');
log.info('shown', { n: 1 });
log.warn('on the other stream');

console.group('group');
console.log('indented\ntwice');
console.group();
console.info('deeper');
console.groupEnd();
console.groupEnd();
console.count();
console.count('named');
console.count();
console.countReset();
console.count();
console.assert(1 === 1, 'not printed');
console.table([{ a: 1, b: 'ü' }, { a: 2, c: true }], ['a', 'b']);
console.dir({ x: { y: { z: {} } } }, { depth: 0 });

for (const [name, check] of Object.entries({
  equal: () => assert.strictEqual(1, 2),
  deep: () => assert.deepStrictEqual({ a: [1, 2] }, { a: [1, 2] }),
  throws: () => assert.throws(() => { throw new TypeError('bad'); }, { name: 'TypeError', message: /ba/ }),
  match: () => assert.match('abc', /x/),
})) {
  try {
    check();
    console.log(name, 'holds');
  } catch (error) {
    console.log(name, error.code, error.actual, error.expected);
  }
}
console.log(util.isDeepStrictEqual(new Set([1, { a: 1 }]), new Set([1, { a: 1 }])), util.types.isPromise(Promise.resolve()), util.stripVTControlCharacters('\u001b[31mred\u001b[0m'));
util.promisify((x, done) => done(null, x * 2))(21).then(console.log);
