// Binary data: DataView, endianness, float bits, a WAV header, views on one buffer, bit sets.
const buffer = new ArrayBuffer(16);
const view = new DataView(buffer);
view.setUint16(0, 0xcafe);
view.setUint16(2, 0xcafe, true);
view.setInt32(4, -2);
view.setFloat64(8, Math.PI);
console.log(Buffer.from(buffer).toString('hex'), new Uint8Array(buffer, 4, 4), view.getUint32(4).toString(16));

const bits = (x) => {
  const v = new DataView(new ArrayBuffer(4));
  v.setFloat32(0, x);
  const b = v.getUint32(0).toString(2).padStart(32, '0');
  return `${b[0]} ${b.slice(1, 9)} ${b.slice(9)}`;
};
for (const x of [1, -2.5, 0.1, Infinity, NaN, -0]) console.log(String(Object.is(x, -0) ? '-0' : x).padStart(8), bits(x));
console.log(Math.fround(0.1), new Float32Array([1e40])[0], new Uint8ClampedArray([300, -5, 1.5]), new Int8Array([200])[0], new Uint8Array([-1])[0]);

function wav(samples, rate) {
  const out = Buffer.alloc(44 + samples.length * 2);
  out.write('RIFF', 0);
  out.writeUInt32LE(36 + samples.length * 2, 4);
  out.write('WAVEfmt ', 8);
  for (const [i, [size, value]] of [[4, 16], [2, 1], [2, 1], [4, rate], [4, rate * 2], [2, 2], [2, 16]].entries()) {
    out.writeUIntLE(value, [16, 20, 22, 24, 28, 32, 34][i], size);
  }
  out.write('data', 36);
  out.writeUInt32LE(samples.length * 2, 40);
  samples.forEach((s, i) => out.writeInt16LE(Math.round(s * 32767), 44 + 2 * i));
  return out;
}
const sound = wav(Array.from({ length: 100 }, (_, i) => ((i % 20) - 10) / 10), 8000);
console.log(sound.length, sound.subarray(0, 48).toString('hex'), sound.reduce((a, b) => a + b));

class BitSet {
  constructor(size) { this.words = new Uint32Array((size + 31) >> 5); }
  add(i) { this.words[i >> 5] |= 1 << (i & 31); return this; }
  has(i) { return (this.words[i >> 5] >>> (i & 31)) & 1; }
  get size() { return this.words.reduce((n, w) => { for (; w; w &= w - 1) n++; return n; }, 0); }
  and(o) { const r = new BitSet(0); r.words = this.words.map((w, i) => w & o.words[i]); return r; }
}
const [threes, fives] = [new BitSet(1000), new BitSet(1000)];
for (let i = 0; i < 1000; i++) (i % 3 || threes.add(i), i % 5 || fives.add(i));
console.log(threes.size, fives.size, threes.and(fives).size, threes.has(999), fives.has(999));
const shared = new Uint16Array([3, 1, 2]);
shared.subarray(1).sort();
console.log(shared, shared.toString(), Buffer.concat([Buffer.from('é'), Buffer.from([0xf0, 0x9f, 0xa6, 0x80])]).toString(), Buffer.compare(Buffer.from('a'), Buffer.from('b')));
console.log(Buffer.from('hello').swap16 ? Buffer.from('abcd').swap16().toString() : '', Buffer.from([1, 2, 3]).readUIntBE(0, 3), Buffer.from('x').equals(Buffer.from('x')), buffer.slice(0, 2).byteLength);
