const { tokenize } = require('./lexer');

const LEVELS = [['==', '<', '<='], ['+', '-'], ['*', '/', '%']];

exports.parse = (source) => {
  const tokens = [...tokenize(source)];
  const peek = (text) => tokens[0].text === text && tokens[0].kind !== 'text';
  const accept = (text) => peek(text) && tokens.shift();
  const expect = (text) => {
    if (!peek(text)) throw new SyntaxError(`expected ${text} but found ${tokens[0].text} in line ${tokens[0].line}`);
    return tokens.shift();
  };
  const name = () => {
    if (tokens[0].kind !== 'name') throw new SyntaxError(`expected a name but found ${tokens[0].text} in line ${tokens[0].line}`);
    return tokens.shift();
  };
  const list = (item) => {
    expect('(');
    const items = [];
    while (!accept(')')) {
      if (items.length) expect(',');
      items.push(item());
    }
    return items;
  };
  const block = () => {
    expect('{');
    const body = [];
    while (!accept('}')) body.push(statement());
    return body;
  };
  const statement = () => {
    if (accept('let')) {
      const { text, line } = name();
      expect('=');
      return { type: 'let', name: text, value: expression(), line };
    }
    if (accept('fun')) return { type: 'fun', name: name().text, parameters: list(() => name().text), body: block() };
    if (accept('while')) return { type: 'while', test: expression(), body: block() };
    if (accept('if')) return { type: 'if', test: expression(), then: block(), otherwise: accept('else') ? block() : [] };
    if (accept('return')) return { type: 'return', value: expression() };
    if (tokens[0].kind === 'name' && tokens[1].text === '=') {
      const { text, line } = name();
      expect('=');
      return { type: 'set', name: text, value: expression(), line };
    }
    return { type: 'expression', value: expression() };
  };
  const expression = (level = 0) => {
    if (level === LEVELS.length) return primary();
    let left = expression(level + 1);
    while (LEVELS[level].some(peek)) left = { type: 'binary', operator: tokens.shift().text, left, right: expression(level + 1) };
    return left;
  };
  const primary = () => {
    if (accept('(')) {
      const inner = expression();
      expect(')');
      return inner;
    }
    if (tokens[0].kind === 'number' || tokens[0].kind === 'text') return { type: 'literal', text: tokens.shift().text };
    const { text, line } = name();
    return peek('(') ? { type: 'call', name: text, line, values: list(() => expression()) } : { type: 'name', name: text, line };
  };
  const body = [];
  while (tokens[0].kind !== 'end') body.push(statement());
  return body;
};
