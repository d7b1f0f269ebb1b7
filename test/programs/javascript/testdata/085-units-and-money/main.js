// Money in integer cents with fair splits, currencies, unit conversion with dimensions.
class Money {
  #cents;
  constructor(cents, currency = 'EUR') {
    if (!Number.isSafeInteger(cents)) throw new RangeError(`not whole cents: ${cents}`);
    [this.#cents, this.currency] = [cents, currency];
  }
  static parse(text) {
    const [, sign, whole, fraction = '00', currency] = /^(-?)(\d{1,3}(?:[.' ]?\d{3})*)(?:,(\d\d))? ([A-Z]{3})$/.exec(text) ?? [];
    if (!whole) throw new SyntaxError(`not an amount: ${text}`);
    return new Money(Number(sign + whole.replace(/\D/g, '') + fraction), currency);
  }
  plus(other) {
    if (other.currency !== this.currency) throw new TypeError(`${this.currency} and ${other.currency} do not add`);
    return new Money(this.#cents + other.#cents, this.currency);
  }
  split(...weights) {
    const total = weights.reduce((a, b) => a + b);
    const shares = weights.map((w) => Math.floor((this.#cents * w) / total));
    let rest = this.#cents - shares.reduce((a, b) => a + b);
    return shares.map((s) => new Money(s + (rest-- > 0 ? 1 : 0), this.currency));
  }
  toString() {
    const digits = String(Math.abs(this.#cents)).padStart(3, '0');
    return `${this.#cents < 0 ? '-' : ''}${digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, '.')},${digits.slice(-2)} ${this.currency}`;
  }
}

const bill = Money.parse('1.234,56 EUR');
console.log(`${bill} / 3 =`, bill.split(1, 1, 1).join(' + '), '| 50:30:20 =', bill.split(50, 30, 20).join(' + '));
console.log(`${Money.parse('0,07 JPY')} ${new Money(-5)} ${Money.parse("1'000'000 CHF").plus(Money.parse('0,01 CHF'))}`);
for (const action of [() => Money.parse('1,2 EUR'), () => bill.plus(Money.parse('1 USD')), () => new Money(0.5)]) {
  try {
    action();
  } catch (error) {
    console.log(error.name, error.message);
  }
}

const UNITS = { m: [1, { m: 1 }], km: [1000, { m: 1 }], mi: [1609.344, { m: 1 }], s: [1, { s: 1 }], min: [60, { s: 1 }], h: [3600, { s: 1 }], kg: [1, { kg: 1 }], g: [0.001, { kg: 1 }], N: [1, { kg: 1, m: 1, s: -2 }], J: [1, { kg: 1, m: 2, s: -2 }], kWh: [3.6e6, { kg: 1, m: 2, s: -2 }], Å: [1e-10, { m: 1 }] };
function unit(text) {
  let factor = 1;
  const dimensions = {};
  for (const [, sign, symbol, power] of text.matchAll(/([/·]?)([A-Za-zÅ]+)(?:\^(-?\d+))?/g)) {
    if (!UNITS[symbol]) throw new RangeError(`unknown unit ${symbol}`);
    const k = (sign === '/' ? -1 : 1) * Number(power ?? 1);
    factor *= UNITS[symbol][0] ** k;
    for (const [d, n] of Object.entries(UNITS[symbol][1])) dimensions[d] = (dimensions[d] ?? 0) + n * k;
  }
  return { factor, key: Object.entries(dimensions).filter(([, n]) => n).sort().map(([d, n]) => d + n).join(' ') };
}
function convert(value, from, to) {
  const [a, b] = [unit(from), unit(to)];
  if (a.key !== b.key) throw new TypeError(`${from} is not ${to} (${a.key} ≠ ${b.key})`);
  return (value * a.factor) / b.factor;
}
for (const [value, from, to] of [[100, 'km/h', 'm/s'], [26.2, 'mi', 'km'], [1, 'kWh', 'N·m'], [5, 'g·m/s^2', 'N'], [3, 'Å', 'm'], [1, 'kg', 'm'], [1, 'parsec', 'm']]) {
  try {
    console.log(`${value} ${from} = ${Number(convert(value, from, to).toPrecision(10))} ${to}`);
  } catch (error) {
    console.log(error.message);
  }
}
