// Half a megabyte on standard output: a table, long lines, and a checksum at the end.
const { createHash } = require('node:crypto');

const hash = createHash('sha256');
let bytes = 0;
const print = (line) => {
  const data = Buffer.from(line + '\n');
  hash.update(data);
  bytes += data.length;
  process.stdout.write(data);
};

let state = 1n;
const next = () => (state = (state * 6364136223846793005n + 1442695040888963407n) & 0xffffffffffffffffn);
for (let i = 0; i < 6000; i++) {
  const r = next();
  print(`${String(i).padStart(6, '0')} ${r.toString(16).padStart(16, '0')} ${'▁▂▃▄▅▆▇█'[Number(r >> 61n)].repeat(Number((r >> 55n) & 15n) + 1)}`);
}
print('x'.repeat(70000));
print(Array.from({ length: 2000 }, (_, i) => '你好🦀é'.charAt(i % 5)).join('').replace(/[\ud800-\udfff]/g, '?'));
process.stdout.write(`${bytes} bytes, ${hash.digest('hex')}\n`);
