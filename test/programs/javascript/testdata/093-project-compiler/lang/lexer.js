const TOKEN = /\s*(?:(?<comment>#.*)|(?<number>\d+)|(?<text>"[^"]*")|(?<name>[\p{L}_][\p{L}\p{N}_]*)|(?<mark>==|<=|[-+*/%<(){},=]))/uy;

exports.tokenize = function* (source) {
  TOKEN.lastIndex = 0;
  const end = source.trimEnd().length;
  while (TOKEN.lastIndex < end) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (!match) throw new SyntaxError(`unexpected ${JSON.stringify(source.slice(at).trim()[0])} in line ${source.slice(0, at + 1).split('\n').length}`);
    const [kind, text] = Object.entries(match.groups).find(([, value]) => value !== undefined);
    if (kind !== 'comment') yield { kind, text, line: source.slice(0, TOKEN.lastIndex).split('\n').length };
  }
  yield { kind: 'end', text: 'the end', line: source.trimEnd().split('\n').length };
};
