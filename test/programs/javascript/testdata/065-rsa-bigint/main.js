// RSA, Diffie-Hellman, a primality test, discrete logarithms and an elliptic curve over BigInt.
const power = (b, e, m) => {
  let r = 1n;
  for (b = ((b % m) + m) % m; e > 0n; e >>= 1n, b = (b * b) % m) if (e & 1n) r = (r * b) % m;
  return r;
};
const inverse = (a, m) => {
  let [old, r, s, t] = [((a % m) + m) % m, m, 1n, 0n];
  while (r) {
    const q = old / r;
    [old, r, s, t] = [r, old - q * r, t, s - q * t];
  }
  if (old !== 1n) throw new RangeError('no inverse');
  return ((s % m) + m) % m;
};
function isPrime(n) {
  if (n < 4n) return n > 1n;
  if (n % 2n === 0n) return false;
  let [d, s] = [n - 1n, 0];
  while (d % 2n === 0n) [d, s] = [d / 2n, s + 1];
  return [2n, 3n, 5n, 7n, 11n, 13n, 17n, 19n, 23n].every((a) => {
    if (n % a === 0n) return n === a;
    let x = power(a, d, n);
    if (x === 1n || x === n - 1n) return true;
    for (let i = 1; i < s; i++) if ((x = (x * x) % n) === n - 1n) return true;
    return false;
  });
}
const nextPrime = (n) => { while (!isPrime(n)) n++; return n; };

const [p, q] = [nextPrime(10n ** 30n), nextPrime(10n ** 31n)];
const n = p * q, e = 65537n, d = inverse(e, (p - 1n) * (q - 1n));
console.log(`p = ${p}\nq = ${q}`);
const message = BigInt('0x' + Buffer.from('héllo 你好 🦀').toString('hex'));
const cipher = power(message, e, n);
console.log(`cipher ${cipher}`);
console.log('plain', Buffer.from(power(cipher, d, n).toString(16), 'hex').toString());

function logarithm(g, h, m, order) {
  const step = BigInt(Math.ceil(Math.sqrt(Number(order))));
  const table = new Map();
  for (let [j, x] = [0n, 1n]; j < step; j++, x = (x * g) % m) table.set(x, j);
  const giant = inverse(power(g, step, m), m);
  for (let [i, y] = [0n, h]; i < step; i++, y = (y * giant) % m) if (table.has(y)) return i * step + table.get(y);
}
console.log('5^x = 33 mod 100003:', logarithm(5n, 33n, 100003n, 100002n));

const curve = { p: 9739n, a: 497n, b: 1768n };
function add(P, Q) {
  if (!P) return Q;
  if (!Q) return P;
  const [[x1, y1], [x2, y2]] = [P, Q];
  if (x1 === x2 && (y1 + y2) % curve.p === 0n) return null;
  const slope = x1 === x2 ? (3n * x1 * x1 + curve.a) * inverse(2n * y1, curve.p) : (y2 - y1) * inverse(x2 - x1, curve.p);
  const x = (((slope * slope - x1 - x2) % curve.p) + curve.p) % curve.p;
  return [x, (((slope * (x1 - x) - y1) % curve.p) + curve.p) % curve.p];
}
const times = (k, P) => { let R = null; for (; k; k >>= 1n, P = add(P, P)) if (k & 1n) R = add(R, P); return R; };
const G = [1804n, 5368n];
const [alice, bob] = [1829n, 6534n];
console.log('shared point:', times(alice, times(bob, G)), times(bob, times(alice, G)));
const [x, y] = times(1829n, G);
console.log('on the curve:', (y * y - x ** 3n - curve.a * x - curve.b) % curve.p === 0n, [2n, 561n, 2n ** 61n - 1n, 2n ** 67n - 1n].map(isPrime));
