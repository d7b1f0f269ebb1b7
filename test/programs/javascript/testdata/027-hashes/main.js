// Known answers: digests, HMAC, key derivation, a Merkle tree, checksums by hand.
const crypto = require('node:crypto');

const message = 'The quick brown fox jumps over the lazy dog';
for (const name of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256']) console.log(name.padEnd(8), crypto.createHash(name).update(message).digest('hex').slice(0, 64));
console.log('hmac', crypto.createHmac('sha256', 'key').update(message).digest('base64'));
console.log('pbkdf2', crypto.pbkdf2Sync('password', 'salt', 1000, 16, 'sha256').toString('hex'));
console.log('scrypt', crypto.scryptSync('password', 'NaCl', 16, { N: 64 }).toString('hex'));
console.log('hkdf', Buffer.from(crypto.hkdfSync('sha256', 'key', 'salt', 'info', 16)).toString('hex'));

const stream = crypto.createHash('sha256');
for (const word of message.split(/(?= )/)) stream.update(word);
console.log('streamed:', stream.digest('hex') === crypto.createHash('sha256').update(message).digest('hex'));

const sha = (...parts) => parts.reduce((h, p) => h.update(p), crypto.createHash('sha256')).digest();
function merkle(leaves) {
  let level = leaves.map((leaf) => sha(leaf));
  while (level.length > 1) level = level.filter((_, i) => i % 2 === 0).map((left, i) => sha(left, level[2 * i + 1] ?? left));
  return level[0].toString('hex').slice(0, 16);
}
console.log('merkle:', merkle(['a', 'b', 'c', 'é', '🦀']), merkle(['a', 'b', 'c', 'é', '🐟']));

const table = Uint32Array.from({ length: 256 }, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
  return n;
});
const crc32 = (data) => (Buffer.from(data).reduce((crc, byte) => table[(crc ^ byte) & 255] ^ (crc >>> 8), -1) ^ -1) >>> 0;
const fnv = (data) => Buffer.from(data).reduce((h, byte) => Math.imul(h ^ byte, 16777619) >>> 0, 2166136261);
const adler = (data) => {
  let [a, b] = [1, 0];
  for (const byte of Buffer.from(data)) [a, b] = [(a + byte) % 65521, (a + byte + b) % 65521];
  return ((b << 16) | a) >>> 0;
};
console.log('crc32', crc32(message).toString(16), 'fnv', fnv(message).toString(16), 'adler', adler('Wikipedia').toString(16));
console.log('equal in constant time:', crypto.timingSafeEqual(sha('x'), sha('x')));
