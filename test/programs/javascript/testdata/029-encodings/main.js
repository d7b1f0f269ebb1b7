// base64, hex, base32, percent encoding, punycode host names, variable-length integers.
const text = 'héllo 你好 🦀';
const bytes = Buffer.from(text);
for (const encoding of ['hex', 'base64', 'base64url', 'latin1', 'utf16le']) {
  const out = encoding === 'utf16le' ? Buffer.from(text, encoding).toString('hex') : bytes.toString(encoding === 'latin1' ? 'hex' : encoding);
  console.log(encoding.padEnd(10), out);
}
console.log(Buffer.from('aMOpbGxv', 'base64').toString(), atob('aGk='), btoa('hi'), Buffer.from('zz', 'hex').length);

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';
function base32(data) {
  const bits = [...data].map((b) => b.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g).map((g) => ALPHABET[parseInt(g.padEnd(5, '0'), 2)]).join('');
  return groups.padEnd(Math.ceil(groups.length / 8) * 8, '=');
}
console.log('base32', base32(bytes), base32(Buffer.from('foobar')));

console.log(encodeURIComponent('a b&c=ü/🦀'), encodeURI('http://x/a b?ü'), decodeURIComponent('%F0%9F%A6%80'));
const url = new URL('https://user:pw@bücher.example:8443/päth/../a b?q=1&q=2&ä=ö#frag');
console.log(url.href, url.hostname, url.port, url.searchParams.getAll('q'), url.searchParams.get('ä'));
console.log(new URL('../x?y', 'http://h/a/b/c').href, URL.canParse?.('nonsense') ?? false, new URLSearchParams({ a: 'x y', b: '&' }).toString());

const varint = (n) => {
  const out = [];
  for (; n > 127; n = Math.floor(n / 128)) out.push((n % 128) | 128);
  return Uint8Array.from([...out, n]);
};
const unvarint = (data) => data.reduceRight((n, byte) => n * 128 + (byte & 127), 0);
for (const n of [0, 127, 128, 300, 2 ** 40 + 5]) console.log(n, Buffer.from(varint(n)).toString('hex'), unvarint(varint(n)) === n);
console.log((255).toString(2), parseInt('zz', 36), (0.1).toString(3).slice(0, 12), Number('0b101'), Number(''), parseFloat('3.14abc'));
