// Rational numbers as an immutable class with operators as methods.
const gcd = (a, b) => (b ? gcd(b, a % b) : a < 0n ? -a : a);

class Ratio {
  constructor(top, bottom = 1n) {
    if (bottom === 0n) throw new RangeError('denominator is zero');
    const g = gcd(top, bottom) * (bottom < 0n ? -1n : 1n);
    [this.top, this.bottom] = [top / g, bottom / g];
    Object.freeze(this);
  }

  static of(text) {
    const [, sign, whole, fraction = '', bottom] = /^(-?)(\d+)(?:\.(\d+))?(?:\/(\d+))?$/.exec(text) ?? [];
    if (whole === undefined) throw new SyntaxError(`not a number: ${text}`);
    const top = BigInt(sign + whole + fraction);
    return new Ratio(top, 10n ** BigInt(fraction.length) * BigInt(bottom ?? 1));
  }

  plus(o) { return new Ratio(this.top * o.bottom + o.top * this.bottom, this.bottom * o.bottom); }
  times(o) { return new Ratio(this.top * o.top, this.bottom * o.bottom); }
  get inverse() { return new Ratio(this.bottom, this.top); }
  get negated() { return new Ratio(-this.top, this.bottom); }
  valueOf() { return Number(this.top) / Number(this.bottom); }
  toString() { return this.bottom === 1n ? `${this.top}` : `${this.top}/${this.bottom}`; }

  /** Decimal expansion with the repeating part in parentheses. */
  expand() {
    const seen = new Map();
    const top = this.top < 0n ? -this.top : this.top;
    let digits = '', rest = top % this.bottom;
    while (rest && !seen.has(rest)) {
      seen.set(rest, digits.length);
      rest *= 10n;
      digits += rest / this.bottom;
      rest %= this.bottom;
    }
    const at = seen.get(rest);
    return `${this.top < 0n ? '-' : ''}${top / this.bottom}.${rest ? `${digits.slice(0, at)}(${digits.slice(at)})` : digits || '0'}`;
  }
}

const sum = Array.from({ length: 15 }, (_, i) => new Ratio(1n, BigInt(i + 1))).reduce((a, b) => a.plus(b));
console.log(`H(15) = ${sum} ≈ ${Number(sum)}`);
for (const text of ['0.1', '-2.5', '3/12', '22/7', '1/97', '7']) {
  const ratio = Ratio.of(text);
  console.log(text.padStart(5), '=', `${ratio}`.padStart(5), '=', ratio.expand());
}
console.log('0.1+0.2=0.3:', `${Ratio.of('0.1').plus(Ratio.of('0.2'))}` === `${Ratio.of('0.3')}`, 0.1 + 0.2 === 0.3);
console.log('ordered:', Ratio.of('1/3') < Ratio.of('0.34'), `${Ratio.of('2/3').times(Ratio.of('2/3').inverse)}`);
for (const bad of [() => new Ratio(1n, 0n), () => Ratio.of('abc'), () => { 'use strict'; sum.top = 1n; }]) {
  try {
    bad();
  } catch (error) {
    console.log(error.name);
  }
}
