// Exact integers: factorials, Fibonacci, modular powers, square roots, digits of pi.
const factorial = (n) => (n < 2n ? 1n : n * factorial(n - 1n));

function fibonacci(n) {
  let [a, b] = [0n, 1n];
  for (const bit of n.toString(2)) {
    [a, b] = [a * (2n * b - a), a * a + b * b];
    if (bit === '1') [a, b] = [b, a + b];
  }
  return a;
}

function power(base, exponent, modulus) {
  let result = 1n;
  for (base %= modulus; exponent; exponent >>= 1n, base = (base * base) % modulus) if (exponent & 1n) result = (result * base) % modulus;
  return result;
}

function root(n) {
  let x = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (let y = (x + n / x) >> 1n; y < x; y = (x + n / x) >> 1n) x = y;
  return x;
}

function* piDigits() {
  let [q, r, t, k, n, l] = [1n, 0n, 1n, 1n, 3n, 3n];
  for (;;) {
    if (4n * q + r - t < n * t) {
      yield n;
      [q, r, n] = [10n * q, 10n * (r - n * t), (10n * (3n * q + r)) / t - 10n * n];
    } else {
      [q, r, t, k, n, l] = [q * k, (2n * q + r) * l, t * l, k + 1n, (q * (7n * k + 2n) + r * l) / (t * l), l + 2n];
    }
  }
}

console.log('50! =', factorial(50n));
console.log('F(300) =', fibonacci(300));
console.log('digits of F(20000):', fibonacci(20000).toString().length);
console.log('2^1000 mod 1e9+7 =', power(2n, 1000n, 1000000007n), 'Fermat:', power(5n, 2n ** 89n - 2n, 2n ** 89n - 1n));
console.log('root of 10^50 + 12345:', root(10n ** 50n + 12345n));
let digits = '';
for (const digit of piDigits()) if ((digits += digit).length === 60) break;
console.log('pi:', digits);
console.log(BigInt.asUintN(8, 300n), BigInt.asIntN(8, 200n), -7n / 2n, -7n % 2n, 5n == 5, typeof 1n);
console.log((2n ** 64n).toLocaleString('en-US'), BigInt('0xff'), 255n.toString(16), new BigInt64Array([2n ** 63n])[0]);
try {
  console.log(1n + 1);
} catch (error) {
  console.log(error.name);
}
