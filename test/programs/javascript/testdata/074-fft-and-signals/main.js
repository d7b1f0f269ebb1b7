// Fast Fourier transform: spectrum of a chord, convolution, fast multiplication of digits.
function fft(re, im, inverse = false) {
  const n = re.length;
  for (let i = 1, j = 0; i < n; i++) {
    let bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) [re[i], re[j], im[i], im[j]] = [re[j], re[i], im[j], im[i]];
  }
  for (let size = 2; size <= n; size *= 2) {
    const angle = ((inverse ? 2 : -2) * Math.PI) / size;
    for (let start = 0; start < n; start += size) {
      for (let k = 0; k < size / 2; k++) {
        const [c, s] = [Math.cos(angle * k), Math.sin(angle * k)];
        const [a, b] = [start + k, start + k + size / 2];
        const [x, y] = [re[b] * c - im[b] * s, re[b] * s + im[b] * c];
        [re[b], im[b]] = [re[a] - x, im[a] - y];
        [re[a], im[a]] = [re[a] + x, im[a] + y];
      }
    }
  }
  if (inverse) for (let i = 0; i < n; i++) [re[i], im[i]] = [re[i] / n, im[i] / n];
}

const N = 1024, RATE = 1024;
const chord = [[50, 1], [120, 0.5], [300, 0.25]];
const re = Float64Array.from({ length: N }, (_, t) => chord.reduce((s, [f, a]) => s + a * Math.sin((2 * Math.PI * f * t) / RATE), 0));
const original = re.slice(), im = new Float64Array(N);
fft(re, im);
for (let f = 0; f < N / 2; f++) {
  const amplitude = (2 * Math.hypot(re[f], im[f])) / N;
  if (amplitude > 0.01) console.log(`${f} Hz`.padStart(7), '▆'.repeat(Math.round(amplitude * 40)), amplitude.toFixed(3));
}
fft(re, im, true);
console.log('there and back:', re.every((x, i) => Math.abs(x - original[i]) < 1e-9));

function multiply(a, b) {
  let size = 1;
  while (size < a.length + b.length) size *= 2;
  const load = (s) => { const out = new Float64Array(size); [...s].reverse().forEach((d, i) => (out[i] = Number(d))); return out; };
  const [ar, ai, br, bi] = [load(a), new Float64Array(size), load(b), new Float64Array(size)];
  fft(ar, ai);
  fft(br, bi);
  const cr = ar.map((x, i) => x * br[i] - ai[i] * bi[i]), ci = ar.map((x, i) => x * bi[i] + ai[i] * br[i]);
  fft(cr, ci, true);
  let carry = 0, out = '';
  for (const x of cr) {
    carry += Math.round(x);
    out = (carry % 10) + out;
    carry = Math.floor(carry / 10);
  }
  return out.replace(/^0+(?=\d)/, '');
}
const [a, b] = ['7'.repeat(600) + '123', '9'.repeat(500) + '001'];
const product = multiply(a, b);
console.log('600 digits times 500:', product.slice(0, 12) + '…' + product.slice(-12), BigInt(a) * BigInt(b) === BigInt(product));
console.log(multiply('0', '12'), multiply('99', '99'));
