// Streams: transform chains, back pressure, object mode, errors, web streams, lines.
const { Readable, Transform, Writable, PassThrough, finished } = require('node:stream');
const { once } = require('node:events');
const { pipeline } = require('node:stream/promises');
const { StringDecoder } = require('node:string_decoder');

class Lines extends Transform {
  #rest = '';
  #decoder = new StringDecoder('utf8');
  constructor() { super({ readableObjectMode: true }); }
  _transform(chunk, _, done) {
    const lines = (this.#rest + this.#decoder.write(chunk)).split('\n');
    this.#rest = lines.pop();
    lines.forEach((line) => this.push(line));
    done();
  }
  _flush(done) {
    if (this.#rest) this.push(this.#rest);
    done();
  }
}

const upper = () => new Transform({ objectMode: true, transform: (line, _, done) => done(null, line.toUpperCase()) });
const collect = (into) => new Writable({ objectMode: true, write: (item, _, done) => (into.push(item), setImmediate(done)) });

(async () => {
  const bytes = Buffer.from('erste zeile\nhéllo 你好 🦀\nletzte');
  const chunks = Array.from({ length: bytes.length }, (_, i) => bytes.subarray(i, i + 1));
  const lines = [];
  await pipeline(Readable.from(chunks), new Lines(), upper(), collect(lines));
  console.log(lines);

  let asked = 0;
  const slow = new Writable({ highWaterMark: 4, write: (c, _, done) => setImmediate(done) });
  const accepted = Array.from({ length: 5 }, () => slow.write('ab')).map(Number);
  slow.on('drain', () => asked++);
  await once(slow, 'drain');
  await new Promise((resolve) => slow.end(resolve));
  console.log('accepted:', accepted, 'drained:', asked);

  const bad = new Transform({ transform: (c, _, done) => done(c.includes('x') ? new Error('x is not allowed') : null, c) });
  await pipeline(Readable.from(['a', 'b', 'x', 'c']), bad, new PassThrough().resume()).catch((e) => console.log('failed:', e.message));

  const numbers = Readable.from([1, 2, 3, 4, 5, 6]).filter((n) => n % 2).map(async (n) => n * n);
  console.log(await numbers.toArray());
  const web = new ReadableStream({ start(c) { 'web'.split('').forEach((x) => c.enqueue(x)); c.close(); } });
  const out = [];
  for await (const x of web.pipeThrough(new TransformStream({ transform: (x, c) => c.enqueue(x + x) }))) out.push(x);
  console.log(out.join('-'));
  const destroyed = Readable.from(['never']);
  finished(destroyed, (error) => console.log('finished:', error.message));
  destroyed.destroy(new Error('closed early'));
})();
