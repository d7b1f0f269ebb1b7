// Tokenizes JavaScript-like source and reports on it: kinds, nesting, identifiers.
const KINDS = [
  ['comment', /\/\/[^\n]*|\/\*[^]*?\*\//y],
  ['template', /`(?:\\[^]|[^\\`])*`/y],
  ['string', /"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/y],
  ['number', /0[xX][\da-fA-F_]+n?|\d[\d_]*(?:\.\d+)?(?:[eE][-+]?\d+)?n?/y],
  ['name', /[\p{ID_Start}$_][\p{ID_Continue}$\u200c\u200d]*/uy],
  ['space', /\s+/y],
  ['operator', /=>|\.\.\.|===|!==|\*\*|\?\?|\?\.|&&|\|\||<=|>=|[-+*/%<>=!?:;,.&|^~]/y],
  ['bracket', /[()[\]{}]/y],
];
const KEYWORDS = new Set('const let var function return if else for of in while class new await async yield'.split(' '));

function* tokenize(source) {
  let at = 0, line = 1;
  while (at < source.length) {
    const found = KINDS.map(([kind, pattern]) => {
      pattern.lastIndex = at;
      return [kind, pattern.exec(source)?.[0]];
    }).find(([, text]) => text);
    if (!found) throw new SyntaxError(`line ${line}: what is ${source[at]}?`);
    const [kind, text] = found;
    yield { kind: kind === 'name' && KEYWORDS.has(text) ? 'keyword' : kind, text, line };
    line += text.split('\n').length - 1;
    at += text.length;
  }
}

function check(tokens) {
  const pairs = { ')': '(', ']': '[', '}': '{' };
  const open = [];
  let deepest = 0;
  for (const { kind, text, line } of tokens) {
    if (kind !== 'bracket') continue;
    if (!(text in pairs)) deepest = Math.max(deepest, open.push({ text, line }));
    else if (open.pop()?.text !== pairs[text]) throw new SyntaxError(`line ${line}: ${text} closes nothing`);
  }
  if (open.length) throw new SyntaxError(`line ${open.at(-1).line}: ${open.at(-1).text} is never closed`);
  return deepest;
}

const source = require('node:fs').readFileSync(0, 'utf8');
const tokens = [...tokenize(source)];
const counts = {};
for (const { kind } of tokens) counts[kind] = (counts[kind] ?? 0) + 1;
console.log(counts, 'depth', check(tokens), 'same text:', tokens.map((t) => t.text).join('') === source);
const marks = { keyword: '«»', string: '“”', comment: '⟦⟧', number: '<>', template: '‹›' };
console.log(tokens.map(({ kind, text }) => (marks[kind] ? marks[kind][0] + text + marks[kind][1] : text)).join('').trim());
console.log([...new Set(tokens.filter((t) => t.kind === 'name').map((t) => t.text))].sort().join(' '));
for (const bad of ['f(]', '{ a: [1, 2}', 'x = #', '((', '"open']) {
  try {
    check([...tokenize(bad)]);
  } catch (error) {
    console.log(bad, '→', error.message);
  }
}
