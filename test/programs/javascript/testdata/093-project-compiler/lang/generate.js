const block = (body, indent) => `{\n${body.map((s) => statement(s, indent + '  ')).join('')}${indent}}`;

const STATEMENTS = {
  let: (s) => `let ${s.name} = ${expression(s.value)};`,
  set: (s) => `${s.name} = ${expression(s.value)};`,
  return: (s) => `return ${expression(s.value)};`,
  expression: (s) => `${expression(s.value)};`,
  fun: (s, indent) => `function ${s.name}(${s.parameters.join(', ')}) ${block(s.body, indent)}`,
  while: (s, indent) => `while (${expression(s.test)}) ${block(s.body, indent)}`,
  if: (s, indent) => `if (${expression(s.test)}) ${block(s.then, indent)} else ${block(s.otherwise, indent)}`,
};
const statement = (s, indent) => `${indent}${STATEMENTS[s.type](s, indent)}\n`;

const EXPRESSIONS = {
  literal: (e) => e.text,
  name: (e) => e.name,
  call: (e) => `${e.name}(${e.values.map(expression).join(', ')})`,
  binary: (e) => (e.operator === '/' ? `Math.trunc(${expression(e.left)} / ${expression(e.right)})` : `(${expression(e.left)} ${e.operator === '==' ? '===' : e.operator} ${expression(e.right)})`),
};
const expression = (e) => EXPRESSIONS[e.type](e);

exports.generate = (tree) => `'use strict';\n${tree.map((s) => statement(s, '')).join('')}`;
