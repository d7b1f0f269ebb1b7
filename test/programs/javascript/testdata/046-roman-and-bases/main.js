// Number systems: Roman, balanced ternary, factorial, Fibonacci coding, Gray code, words.
const ROMAN = Object.entries({ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 });
const roman = (n) => ROMAN.reduce(([out, n], [s, v]) => [out + s.repeat(n / v), n % v], ['', n])[0];
const unroman = (s) => ROMAN.reduce(([n, s], [letters, v]) => {
  while (s.startsWith(letters)) [n, s] = [n + v, s.slice(letters.length)];
  return [n, s];
}, [0, s])[0];

function ternary(n) {
  let out = '';
  do {
    const rest = ((n % 3) + 3) % 3;
    out = '0+-'[rest] + out;
    n = (n - [0, 1, -1][rest]) / 3;
  } while (n);
  return out;
}

function factoradic(n) {
  const out = [];
  for (let i = 1; n || i === 1; i++) {
    out.unshift(n % i);
    n = Math.floor(n / i);
  }
  return out.join(':');
}

function zeckendorf(n) {
  const fibonacci = [1, 2];
  while (fibonacci.at(-1) <= n) fibonacci.push(fibonacci.at(-1) + fibonacci.at(-2));
  return fibonacci.reverse().reduce(([out, n], f) => (f <= n ? [out + '1', n - f] : [out && out + '0', n]), ['', n])[0];
}

const gray = (n) => (n ^ (n >> 1)).toString(2).padStart(4, '0');
const chinese = (n) => String(n).split('').map((d) => '〇一二三四五六七八九'[d]).join('');

for (const n of [1, 4, 9, 49, 444, 1994, 2024, 3999]) console.log(String(n).padStart(4), roman(n).padEnd(10), ternary(n).padEnd(9), factoradic(n).padEnd(14), zeckendorf(n).padEnd(17), chinese(n));
console.log('round trip:', Array.from({ length: 3999 }, (_, i) => i + 1).every((n) => unroman(roman(n)) === n));
console.log('negative ternary:', ternary(-5), ternary(0), 'gray:', Array.from({ length: 16 }, (_, i) => gray(i)).join(' '));
console.log('bits apart:', Array.from({ length: 15 }, (_, i) => parseInt(gray(i), 2) ^ parseInt(gray(i + 1), 2)).every((x) => (x & (x - 1)) === 0));
const ordinal = (n) => n + (['th', 'st', 'nd', 'rd'][(n % 100 >> 3) ^ 1 && n % 10] || 'th');
console.log([1, 2, 3, 4, 11, 12, 13, 21, 22, 111, 112, 123].map(ordinal).join(' '));
