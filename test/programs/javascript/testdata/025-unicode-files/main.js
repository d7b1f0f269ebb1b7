// Files whose names and contents go beyond ASCII; copies, renames, a walk, a watch-free tail.
const fs = require('node:fs');
const path = require('node:path');

const root = 'ordner ü';
const names = ['héllo 你好 🦀.txt', 'tief/вниз/παράδειγμα.md', 'tief/空.txt', 'plain.txt'];
for (const name of names) {
  const file = path.join(root, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, `${path.basename(name)}\n`.repeat(2));
}
fs.writeFileSync(path.join(root, 'tief/空.txt'), '');

function* walk(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else yield full;
  }
}

for (const file of walk(root)) console.log(String(fs.statSync(file).size).padStart(4), path.relative(root, file), path.extname(file));
fs.appendFileSync(path.join(root, 'plain.txt'), 'angehängt ✓');
fs.renameSync(path.join(root, names[0]), path.join(root, 'Krebs🦀'));
fs.copyFileSync(path.join(root, 'Krebs🦀'), path.join(root, 'kopie'));
console.log(fs.readFileSync(path.join(root, 'kopie'), 'utf8').split('\n'));
console.log(fs.readFileSync(path.join(root, 'plain.txt'), 'utf8').split('\n').at(-1));
fs.symlinkSync('Krebs🦀', path.join(root, 'link'));
console.log(fs.readlinkSync(path.join(root, 'link')), fs.realpathSync(path.join(root, 'link')).endsWith('ordner ü/Krebs🦀'));
try {
  fs.readFileSync('无此文件');
} catch (error) {
  console.log(error.code, error.syscall, error.path);
}
const fd = fs.openSync('binary.bin', 'w+');
fs.writeSync(fd, Buffer.from([1, 2, 3, 4, 5, 6]));
fs.writeSync(fd, Buffer.from([0xff]), 0, 1, 2);
const part = Buffer.alloc(3);
fs.readSync(fd, part, 0, 3, 1);
fs.ftruncateSync(fd, 4);
console.log(part, fs.fstatSync(fd).size);
fs.closeSync(fd);
fs.rmSync(root, { recursive: true });
console.log(fs.existsSync(root));
