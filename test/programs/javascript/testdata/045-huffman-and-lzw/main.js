// Two compressors from scratch, bit by bit, on a text of several scripts.
const text = 'she sells sea shells by the sea shore; die Katze tritt die Treppe krumm; 你好你好你好 🦀🦀🦀 '.repeat(3);

function huffman(text) {
  const counts = new Map();
  for (const c of text) counts.set(c, (counts.get(c) ?? 0) + 1);
  let nodes = [...counts].map(([c, n], i) => ({ c, n, i }));
  let order = nodes.length;
  while (nodes.length > 1) {
    nodes.sort((a, b) => a.n - b.n || a.i - b.i);
    const [left, right] = nodes.splice(0, 2);
    nodes.push({ left, right, n: left.n + right.n, i: order++ });
  }
  const codes = new Map();
  const assign = (node, code) => (node.c ? codes.set(node.c, code || '0') : (assign(node.left, code + '0'), assign(node.right, code + '1')));
  assign(nodes[0], '');
  return { tree: nodes[0], codes };
}

const { tree, codes } = huffman(text);
const bits = [...text].map((c) => codes.get(c)).join('');
let decoded = '', node = tree;
for (const bit of bits) {
  node = bit === '0' ? node.left : node.right;
  if (node.c) [decoded, node] = [decoded + node.c, tree];
}
const sorted = [...codes].sort((a, b) => a[1].length - b[1].length || (a[1] < b[1] ? -1 : 1));
for (const [c, code] of sorted.slice(0, 8)) console.log(JSON.stringify(c), code);
console.log('huffman:', bits.length, 'bits instead of', Buffer.byteLength(text) * 8, decoded === text);

function lzw(bytes) {
  const table = new Map(Array.from({ length: 256 }, (_, i) => [String.fromCharCode(i), i]));
  const out = [];
  let run = '';
  for (const byte of bytes) {
    const c = String.fromCharCode(byte);
    if (table.has(run + c)) run += c;
    else {
      out.push(table.get(run));
      table.set(run + c, table.size);
      run = c;
    }
  }
  return run ? [...out, table.get(run)] : out;
}

function unlzw(codes) {
  const table = Array.from({ length: 256 }, (_, i) => String.fromCharCode(i));
  let previous = table[codes[0]], out = previous;
  for (const code of codes.slice(1)) {
    const entry = table[code] ?? previous + previous[0];
    out += entry;
    table.push(previous + entry[0]);
    previous = entry;
  }
  return Buffer.from(out, 'latin1');
}

const packed = lzw(Buffer.from(text));
console.log('lzw:', packed.length, 'codes for', Buffer.byteLength(text), 'bytes', unlzw(packed).toString() === text, Math.max(...packed));
const runs = (s) => s.replace(/(.)\1*/gsu, (run, c) => `${[...run].length}${c}`);
console.log('run length:', runs('aaabccdddd🦀🦀'));
