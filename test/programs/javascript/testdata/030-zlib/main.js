// Compression there and back: gzip, deflate, brotli, streams, broken input.
const zlib = require('node:zlib');
const { pipeline } = require('node:stream/promises');
const { createReadStream, createWriteStream, readFileSync, writeFileSync } = require('node:fs');

const verse = Buffer.from('Über allen Gipfeln ist Ruh, in allen Wipfeln spürest du kaum einen Hauch; \n'.repeat(500));
const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => ((i * 2654435761) >>> 13) & 255));

for (const [name, pack, unpack] of [
  ['gzip', zlib.gzipSync, zlib.gunzipSync],
  ['deflate', zlib.deflateSync, zlib.inflateSync],
  ['raw', zlib.deflateRawSync, zlib.inflateRawSync],
  ['brotli', zlib.brotliCompressSync, zlib.brotliDecompressSync],
]) {
  for (const data of [verse, noise, Buffer.alloc(0)]) {
    const packed = pack(data);
    console.log(name.padEnd(8), String(data.length).padStart(6), packed.length < data.length / 20 ? 'small' : 'not small', unpack(packed).equals(data));
  }
}
console.log('automatic:', zlib.unzipSync(zlib.gzipSync('a')).toString(), zlib.unzipSync(zlib.deflateSync('b')).toString());

(async () => {
  writeFileSync('verse.txt', verse);
  await pipeline(createReadStream('verse.txt', { highWaterMark: 777 }), zlib.createGzip({ level: 9 }), createWriteStream('verse.gz'));
  await pipeline(createReadStream('verse.gz'), zlib.createGunzip(), createWriteStream('again.txt'));
  console.log('through files:', readFileSync('again.txt').equals(verse), readFileSync('verse.gz').subarray(0, 3).toString('hex'));
  for (const bad of [Buffer.from('no zip'), zlib.gzipSync(verse).subarray(0, 60)]) {
    await new Promise((resolve) => zlib.gunzip(bad, (error) => resolve(console.log(error.code))));
  }
})();
