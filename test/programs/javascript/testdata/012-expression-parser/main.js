// Pratt parser: precedence, unary operators, functions, variables, good errors.
const fs = require('node:fs');

const POWER = { '=': [1, 0], '?': [2, 1], '<': [3, 4], '+': [5, 6], '-': [5, 6], '*': [7, 8], '/': [7, 8], '%': [7, 8], '^': [10, 9] };
const FUNCTIONS = { sqrt: Math.sqrt, max: Math.max, min: Math.min, hypot: Math.hypot };

function tokenize(text) {
  const tokens = [];
  const pattern = /\s*(?:(\d+(?:\.\d+)?)|([\p{L}_]+)|([-+*/%^()=<?:,]))/uy;
  while (pattern.lastIndex < text.trimEnd().length) {
    const at = pattern.lastIndex;
    const match = pattern.exec(text);
    if (!match) throw new SyntaxError(`strange character at ${at + 1}`);
    tokens.push(match[1] ? Number(match[1]) : match[0].trim());
  }
  return tokens;
}

function evaluate(text, scope) {
  const tokens = tokenize(text);
  const expect = (token) => {
    if (tokens.shift() !== token) throw new SyntaxError(`expected ${token}`);
  };
  const prefix = () => {
    const token = tokens.shift();
    if (typeof token === 'number') return { value: token };
    if (token === '-') return { value: -expression(8).value };
    if (token === '(') {
      const inner = expression(0);
      expect(')');
      return inner;
    }
    if (token === undefined) throw new SyntaxError('unexpected end');
    if (tokens[0] === '(' && Object.hasOwn(FUNCTIONS, token)) {
      tokens.shift();
      const values = [expression(0).value];
      while (tokens[0] === ',') tokens.shift(), values.push(expression(0).value);
      expect(')');
      return { value: FUNCTIONS[token](...values) };
    }
    if (!/^[\p{L}_]/u.test(token)) throw new SyntaxError(`unexpected ${token}`);
    return { name: token, get value() {
      if (!scope.has(token)) throw new ReferenceError(`${token} is not defined`);
      return scope.get(token);
    } };
  };
  const apply = { '+': (a, b) => a + b, '-': (a, b) => a - b, '*': (a, b) => a * b, '/': (a, b) => a / b, '%': (a, b) => a % b, '^': (a, b) => a ** b, '<': (a, b) => Number(a < b) };
  const expression = (minimum) => {
    let left = prefix();
    while (tokens.length && POWER[tokens[0]]?.[0] >= minimum) {
      const operator = tokens.shift();
      const right = expression(operator === '?' ? 0 : POWER[operator][1]);
      if (operator === '=') {
        if (!left.name) throw new SyntaxError('cannot assign to that');
        scope.set(left.name, right.value);
        left = { value: right.value };
      } else if (operator === '?') {
        expect(':');
        const other = expression(2);
        left = { value: left.value ? right.value : other.value };
      } else left = { value: apply[operator](left.value, right.value) };
    }
    return left;
  };
  const result = expression(0).value;
  if (tokens.length) throw new SyntaxError(`unexpected ${tokens[0]}`);
  return result;
}

const scope = new Map([['π', Math.PI]]);
for (const line of fs.readFileSync(0, 'utf8').trim().split('\n')) {
  try {
    console.log(`${line}  →  ${evaluate(line, scope)}`);
  } catch (error) {
    console.log(`${line}  ✗  ${error.name}: ${error.message}`);
  }
}
