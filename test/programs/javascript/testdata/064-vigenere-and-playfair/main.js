// Classical ciphers: Vigenère with a length attack, Playfair, transposition, one-time pad.
const A = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const clean = (s) => s.normalize('NFD').toUpperCase().replace(/[^A-Z]/g, '');
const vigenere = (text, key, sign) => [...text].map((c, i) => A[(A.indexOf(c) + sign * A.indexOf(key[i % key.length]) + 26) % 26]).join('');

const ENGLISH = [8.2, 1.5, 2.8, 4.3, 12.7, 2.2, 2, 6.1, 7, 0.15, 0.77, 4, 2.4, 6.7, 7.5, 1.9, 0.095, 6, 6.3, 9.1, 2.8, 0.98, 2.4, 0.15, 2, 0.074];
const shiftOf = (column) => {
  const score = (s) => [...column].reduce((sum, c) => sum + Math.log(ENGLISH[(A.indexOf(c) - s + 26) % 26]), 0);
  return A[[...A].map((_, i) => i).reduce((best, s) => (score(s) > score(best) ? s : best), 0)];
};
const columnsOf = (text, n) => Array.from({ length: n }, (_, k) => [...text].filter((_, i) => i % n === k).join(''));
const coincidence = (s) => [...A].reduce((sum, c) => { const n = s.split(c).length - 1; return sum + n * (n - 1); }, 0) / (s.length * (s.length - 1));

const plain = clean(`It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want
of a wife. However little known the feelings or views of such a man may be on his first entering a neighbourhood, this truth is
so well fixed in the minds of the surrounding families, that he is considered as the rightful property of some one or other of
their daughters. My dear, said his lady to him one day, have you heard that Netherfield Park is let at last?`);
const secret = vigenere(plain, 'CRÊPE'.normalize('NFD').replace(/[^A-Z]/g, ''), 1);
console.log(secret.slice(0, 60));
for (let n = 1; n <= 6; n++) {
  const mean = columnsOf(secret, n).reduce((s, c) => s + coincidence(c), 0) / n;
  console.log('length', n, mean.toFixed(4));
}
const key = columnsOf(secret, 5).map(shiftOf).join('');
console.log('key found:', key, vigenere(secret, key, -1) === plain);

function playfair(text, key, step) {
  const square = [...new Set(clean(key + A).replace(/J/g, 'I'))];
  const at = (c) => [Math.floor(square.indexOf(c) / 5), square.indexOf(c) % 5];
  return text.match(/../g).map(([a, b]) => {
    const [[r, c], [s, d]] = [at(a), at(b)];
    const pick = (i, j) => square[((i + 5) % 5) * 5 + ((j + 5) % 5)];
    if (r === s) return pick(r, c + step) + pick(s, d + step);
    if (c === d) return pick(r + step, c) + pick(s + step, d);
    return pick(r, d) + pick(s, c);
  }).join('');
}
const digraphs = (s) => clean(s).replace(/J/g, 'I').match(/(.)(?!\1)(.)|./g).map((p) => p.padEnd(2, 'X')).join('');
const hidden = playfair(digraphs('Hide the gold in the tree stump'), 'playfair example', 1);
console.log(hidden, playfair(hidden, 'playfair example', -1));

const rail = (n, rails) => [...Array(n).keys()].sort((a, b) => { const r = (i) => { const k = i % (2 * rails - 2); return Math.min(k, 2 * rails - 2 - k); }; return r(a) - r(b) || a - b; });
console.log(rail(25, 3).map((i) => 'WEAREDISCOVEREDFLEEATONCE'[i]).join(''));
const xor = (a, b) => Buffer.from(a.map((byte, i) => byte ^ b[i % b.length]));
console.log(xor(xor(Buffer.from('padded 🔒'), Buffer.from('key')), Buffer.from('key')).toString());
