// Numbers: rounding, safe integers, bit tricks, compensated sums, parsing, formatting.
console.log(0.1 + 0.2, 0.1 * 3, 1 / 3, 5e-324, 2 ** 53 + 1, -7 % 3, -7 >> 1, -7 >>> 28);
console.log(Number.MAX_SAFE_INTEGER, Number.EPSILON, Number.isSafeInteger(2 ** 53), 0 === -0, Object.is(0, -0), NaN === NaN);
console.log([1.005, 2.5, -2.5, 1e21, 123.456].map((x) => [Math.round(x), x.toFixed(2), x.toPrecision(3), x.toExponential(1)].join(' ')));
console.log(['12px', '0x1f', '1e3', ' 42 ', '', '1_000', 'Infinity', '٣'].map((s) => `${Number(s)}/${parseInt(s)}/${parseFloat(s)}`).join('  '));
console.log([null, undefined, true, [], [5], [1, 2], {}, '3'].map((x) => +x).join(' '), [] + {}, [1, 2] + [3], '5' * '2', '5' + 2, true + true);

function kahan(values) {
  let sum = 0, carry = 0;
  for (const value of values) {
    const y = value - carry, t = sum + y;
    carry = t - sum - y;
    sum = t;
  }
  return sum;
}
const tenths = Array(1000000).fill(0.1);
console.log('naive', tenths.reduce((a, b) => a + b, 0), 'compensated', kahan(tenths));

const popcount = (n) => {
  n -= (n >>> 1) & 0x55555555;
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};
const reverse = (n) => parseInt((n >>> 0).toString(2).padStart(32, '0').split('').reverse().join(''), 2);
console.log([0, 1, 255, -1, 0x12345678].map(popcount), reverse(1), reverse(0x12345678).toString(16), Math.clz32(1000), 1 << 31, ~~-3.7, 5 & 6, 5 ^ 6);
console.log((1234.5678).toString(36), (0.5).toString(2), (255).toString(16).toUpperCase(), Number('0o17'), 0b1010, 1_000_000, .5 + +'.5');
console.log(Math.hypot(3, 4, 12), Math.cbrt(27), Math.log2(1024), Math.sign(-3), Math.trunc(-4.7), Math.atan2(1, 1).toFixed(10), Math.max(), Math.min(...[]));
const isqrt = (n) => { let x = n; while (x * x > n) x = Math.floor((x + n / x) / 2); return x; };
console.log(isqrt(10 ** 15), [3, 2, 1].includes(NaN), [NaN].includes(NaN), [NaN].indexOf(NaN), [1, 10, 2].sort().join());
const fizz = (n) => ['Fizz'][n % 3] ?? '';
console.log(Array.from({ length: 15 }, (_, i) => ((i + 1) % 3 ? '' : 'Fizz') + ((i + 1) % 5 ? '' : 'Buzz') || i + 1).join(' '), fizz(3));
