// A small language compiled to JavaScript: lexer, parser, scope check, generator, run.
const fs = require('node:fs');
const { parse } = require('./lang/parser');
const { check } = require('./lang/check');
const { generate } = require('./lang/generate');

for (const source of fs.readFileSync(0, 'utf8').split(/^===\n/m)) {
  try {
    const tree = parse(source);
    check(tree);
    const code = generate(tree);
    console.log(code.split('\n').slice(0, 4).join('\n'));
    new Function('print', code)((...values) => console.log('>', ...values));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    console.log('error:', error.message);
  }
}
