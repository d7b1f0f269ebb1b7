// Glob patterns by hand: compile to a matcher, brace expansion, a walk over a made-up tree.
const fs = require('node:fs');
const path = require('node:path');

function braces(pattern) {
  const match = /\{([^{}]*)\}/.exec(pattern);
  if (!match) return [pattern];
  const range = /^(\d+)\.\.(\d+)$/.exec(match[1]);
  const options = range ? Array.from({ length: range[2] - range[1] + 1 }, (_, i) => String(Number(range[1]) + i)) : match[1].split(',');
  return options.flatMap((option) => braces(pattern.slice(0, match.index) + option + pattern.slice(match.index + match[0].length)));
}

function compile(pattern) {
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i];
    if (pattern.startsWith('**/', i)) [source, i] = [source + '(?:[^/]+/)*', i + 2];
    else if (c === '*') source += '[^/]*';
    else if (c === '?') source += '[^/]';
    else if (c === '[') {
      const end = pattern.indexOf(']', i + 1);
      source += pattern.slice(i, end + 1).replace('[!', '[^');
      i = end;
    } else source += c.replace(/[\\^$.|+(){}]/g, '\\$&');
  }
  return new RegExp(`^${source}$`, 'u');
}

const glob = (pattern, names) => {
  const matchers = braces(pattern).map(compile);
  return names.filter((name) => matchers.some((m) => m.test(name)));
};

const files = ['src/index.js', 'src/lib/util.js', 'src/lib/deep/x.mjs', 'src/größe.js', 'src/🦀.js', 'test/a1.txt', 'test/a2.txt', 'test/b10.txt', 'README.md', 'a.b/c+d(1).js'];
for (const file of files) {
  fs.mkdirSync(path.join('tree', path.dirname(file)), { recursive: true });
  fs.writeFileSync(path.join('tree', file), '');
}
const walk = (dir) => fs.readdirSync(dir, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? walk(path.join(dir, e.name)) : [path.join(dir, e.name)]));
const found = walk('tree').map((f) => path.relative('tree', f)).sort();
console.log(found.length, 'files');
for (const pattern of ['*.md', 'src/*.js', 'src/?.js', '**/*.{js,mjs}', 'test/[ab][!1].txt', 'test/{a,b}{1..10}.txt', 'a.b/c+d(1).js', 'src/**/x.*', 'nothing']) {
  console.log(pattern.padEnd(22), glob(pattern, found).join(' ') || '–');
}
console.log(braces('{a,b{1,2}}x{3..5}').join(' '));
console.log(path.normalize('a//b/../c/./d'), path.resolve('/x/y', '../z'), path.parse('/home/ü/datei.tar.gz'), path.posix.relative('/a/b/c', '/a/d'));
