// A Scheme with closures, tail calls, quasi-lists and an error for unbound names.
const fs = require('node:fs');

const tokenize = (text) => text.replace(/;.*$/gm, '').match(/[()']|"[^"]*"|[^\s()']+/g) ?? [];
function read(tokens) {
  const token = tokens.shift();
  if (token === "'") return ['quote', read(tokens)];
  if (token !== '(') return token === '#t' ? true : token === '#f' ? false : token[0] === '"' ? { text: token.slice(1, -1) } : isNaN(token) ? token : Number(token);
  const list = [];
  while (tokens[0] !== ')') {
    if (!tokens.length) throw new SyntaxError('missing )');
    list.push(read(tokens));
  }
  tokens.shift();
  return list;
}

class Scope {
  constructor(outer, names = [], values = []) {
    this.outer = outer;
    this.map = new Map(names.map((n, i) => [n, values[i]]));
  }
  find(name) {
    for (let s = this; s; s = s.outer) if (s.map.has(name)) return s.map;
    throw new ReferenceError(`unbound: ${name}`);
  }
}

function evaluate(x, scope) {
  for (;;) {
    if (typeof x === 'string') return scope.find(x).get(x);
    if (!Array.isArray(x)) return x.text ?? x;
    const [head, ...rest] = x;
    if (head === 'quote') return rest[0];
    if (head === 'if') x = evaluate(rest[0], scope) !== false ? rest[1] : rest[2];
    else if (head === 'define') {
      const [name, value] = Array.isArray(rest[0]) ? [rest[0][0], ['lambda', rest[0].slice(1), ...rest.slice(1)]] : rest;
      return void scope.map.set(name, evaluate(value, scope));
    } else if (head === 'lambda') return { names: rest[0], body: ['begin', ...rest.slice(1)], scope };
    else if (head === 'let') {
      scope = new Scope(scope, rest[0].map(([n]) => n), rest[0].map(([, v]) => evaluate(v, scope)));
      x = ['begin', ...rest.slice(1)];
    } else if (head === 'begin') {
      rest.slice(0, -1).forEach((part) => evaluate(part, scope));
      x = rest.at(-1);
    } else if (head === 'cond') x = rest.find(([test]) => test === 'else' || evaluate(test, scope) !== false)[1];
    else {
      const [f, ...values] = x.map((part) => evaluate(part, scope));
      if (typeof f === 'function') return f(...values);
      [scope, x] = [new Scope(f.scope, f.names, values), f.body];
    }
  }
}

const show = (x) => (Array.isArray(x) ? `(${x.map(show).join(' ')})` : x === true ? '#t' : x === false ? '#f' : x?.text !== undefined ? `"${x.text}"` : x?.names ? '#<procedure>' : String(x));
const top = new Scope(null);
const builtins = {
  '+': (...n) => n.reduce((a, b) => a + b, 0), '*': (...n) => n.reduce((a, b) => a * b, 1), '-': (a, b) => a - b, '=': (a, b) => a === b,
  '<': (a, b) => a < b, car: (l) => l[0], cdr: (l) => l.slice(1), cons: (a, l) => [a, ...l], list: (...l) => l, 'null?': (l) => l.length === 0,
  remainder: (a, b) => a % b, append: (a, b) => [...a, ...b], display: (x) => console.log('>', show(x)),
};
for (const [name, f] of Object.entries(builtins)) top.map.set(name, f);
const tokens = tokenize(fs.readFileSync(0, 'utf8'));
while (tokens.length) {
  try {
    const value = evaluate(read(tokens), top);
    if (value !== undefined) console.log(show(value));
  } catch (error) {
    console.log(error.name, error.message);
  }
}
