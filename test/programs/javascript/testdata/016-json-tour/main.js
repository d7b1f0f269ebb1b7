// JSON: revivers, replacers, toJSON, cycles, deep comparison, a file and back.
const fs = require('node:fs');
const assert = require('node:assert');

class Money {
  constructor(amount, currency) { Object.assign(this, { amount, currency }); }
  toJSON() { return `${this.amount.toFixed(2)} ${this.currency}`; }
}

const order = {
  id: 17,
  customer: 'Żółć & 你好 🦀',
  placed: new Date(Date.UTC(2024, 1, 29, 12, 30)),
  total: new Money(19.9, 'EUR'),
  lines: [{ sku: 'A-1', pieces: 2 }, { sku: 'B-2', pieces: 1, gift: true }],
  nothing: null,
  skipped: undefined,
  odd: [NaN, undefined, () => 1],
  tags: new Set(['x', 'y']),
};

const replacer = (key, value) => (value instanceof Set ? [...value] : key === 'gift' ? undefined : value);
fs.writeFileSync('order.json', JSON.stringify(order, replacer, 2));
const text = fs.readFileSync('order.json', 'utf8');
console.log(text);

const back = JSON.parse(text, (key, value) => {
  if (key === 'placed') return new Date(value);
  if (key === 'total') return new Money(parseFloat(value), value.slice(-3));
  return value;
});
console.log(back.placed.getUTCDay(), back.total instanceof Money, back.total.amount);
assert.deepStrictEqual(back.lines[0], order.lines[0]);
console.log(JSON.stringify({ b: 1, a: { c: [1, { d: 2 }] } }, ['a', 'c', 'd']), JSON.stringify('\u2028"\n\ud800'));

const cycle = { name: 'loop' };
cycle.self = cycle;
for (const [what, action] of [['cycle', () => JSON.stringify(cycle)], ['bigint', () => JSON.stringify(1n)], ['broken', () => JSON.parse('{"a":1,}')]]) {
  try {
    action();
  } catch (error) {
    console.log(what, error.name);
  }
}
const copy = structuredClone({ when: new Date(0), map: new Map([[{ k: 1 }, 'v']]), cycle });
console.log(copy.when.toISOString(), copy.map.size, copy.cycle.self === copy.cycle, copy.cycle !== cycle);
