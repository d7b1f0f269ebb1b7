// Primes in a typed array, gaps, twin primes, Goldbach pairs and totients.
const LIMIT = 300000;
const composite = new Uint8Array(LIMIT + 1);
const primes = [];
for (let n = 2; n <= LIMIT; n++) {
  if (composite[n]) continue;
  primes.push(n);
  for (let m = n * n; m <= LIMIT; m += n) composite[m] = 1;
}
const isPrime = (n) => n > 1 && !composite[n];

console.log(primes.length, 'primes below', LIMIT, '; last:', primes.at(-1));
const gap = primes.slice(1).reduce((best, p, i) => (p - primes[i] > best.size ? { size: p - primes[i], from: primes[i] } : best), { size: 0 });
console.log('largest gap:', gap);
console.log('twins below 1000:', primes.filter((p) => p < 1000 && isPrime(p + 2)).length);

const goldbach = (n) => primes.filter((p) => p <= n / 2 && isPrime(n - p)).map((p) => `${p}+${n - p}`);
for (const n of [10, 28, 100]) console.log(n, '=', goldbach(n).join(' = '));

const factors = (n) => {
  const out = {};
  for (const p of primes) {
    if (p * p > n) break;
    while (n % p === 0) [out[p], n] = [(out[p] ?? 0) + 1, n / p];
  }
  if (n > 1) out[n] = (out[n] ?? 0) + 1;
  return out;
};
for (const n of [5040, 65536, 999999, 999999000001]) console.log(n, factors(n));
const perfect = Array.from({ length: 9000 }, (_, i) => i + 1).filter((n) => {
  const divisors = Object.entries(factors(n)).reduce((s, [p, k]) => (s * (p ** (k + 1) - 1)) / (p - 1), 1);
  return divisors === 2 * n;
});
console.log('perfect numbers:', perfect);
