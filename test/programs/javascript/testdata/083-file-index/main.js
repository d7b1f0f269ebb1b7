// Makes a tree of files, indexes it by hash, finds duplicates, moves and archives as JSON lines.
const fs = require('node:fs/promises');
const path = require('node:path');
const { createHash } = require('node:crypto');

const FILES = { 'a/eins.txt': 'gleich', 'a/zwei.txt': 'anders', 'b/drei.txt': 'gleich', 'b/тоже.txt': 'gleich', 'c/leer.bin': '', 'c/🦀.bin': 'x'.repeat(3000) };

async function* walk(dir) {
  const entries = await fs.readdir(dir, { withFileTypes: true });
  for (const entry of entries.sort((x, y) => (x.name < y.name ? -1 : 1))) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) yield* walk(full);
    else yield full;
  }
}

(async () => {
  await Promise.all(Object.entries(FILES).map(async ([name, text]) => {
    const file = path.join('data', name);
    await fs.mkdir(path.dirname(file), { recursive: true });
    await fs.writeFile(file, text);
  }));
  await fs.utimes('data/a/eins.txt', 1e9, 1.5e9);

  const index = new Map();
  for await (const file of walk('data')) {
    const [{ size, mtimeMs }, content] = await Promise.all([fs.stat(file), fs.readFile(file)]);
    const hash = createHash('sha1').update(content).digest('hex').slice(0, 10);
    console.log(hash, String(size).padStart(5), file, mtimeMs === 1.5e12 ? '(2017)' : '');
    index.set(hash, [...(index.get(hash) ?? []), file]);
  }
  for (const [hash, [keep, ...copies]] of index) {
    for (const copy of copies) {
      await fs.unlink(copy);
      await fs.link(keep, copy);
    }
    if (copies.length) console.log(hash, 'is kept once, links:', (await fs.stat(keep)).nlink);
  }

  const handle = await fs.open('index.jsonl', 'w+');
  for (const [hash, files] of index) await handle.appendFile(JSON.stringify({ hash, files }) + '\n');
  await handle.close();
  const lines = (await fs.readFile('index.jsonl', 'utf8')).trim().split('\n').map((l) => JSON.parse(l));
  console.log(lines.length, 'lines;', lines.flatMap((l) => l.files).length, 'files; the last:', lines.at(-1).files[0]);

  await fs.rename('data/c', 'data/d');
  await fs.cp('data/d', 'copy', { recursive: true });
  await fs.truncate('copy/🦀.bin', 5);
  console.log(await fs.readFile('copy/🦀.bin', 'utf8'), (await fs.readdir('copy')).sort());
  for (const action of [() => fs.rmdir('data'), () => fs.readFile('data/c/leer.bin'), () => fs.mkdir('copy'), () => fs.readFile('copy')]) await action().catch((e) => console.log(e.code));
  await fs.rm('data', { recursive: true });
  console.log(await fs.access('data').then(() => 'there', () => 'gone'));
})();
