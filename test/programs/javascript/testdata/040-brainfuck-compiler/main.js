// Compiles Brainfuck to JavaScript source, folds runs, and executes it.
function compile(source) {
  const code = [...source].filter((c) => '+-<>.,[]'.includes(c)).join('');
  const lines = [];
  let depth = 0;
  for (const [run] of code.matchAll(/\[-\]|\++|-+|>+|<+|[.,[\]]/g)) {
    const pad = '  '.repeat(depth);
    const n = run.length;
    if (run === '[-]') lines.push(`${pad}m[p] = 0;`);
    else if (run[0] === '+') lines.push(`${pad}m[p] += ${n};`);
    else if (run[0] === '-') lines.push(`${pad}m[p] -= ${n};`);
    else if (run[0] === '>') lines.push(`${pad}p += ${n};`);
    else if (run[0] === '<') lines.push(`${pad}p -= ${n};`);
    else if (run === '.') lines.push(`${pad}out.push(m[p]);`);
    else if (run === ',') lines.push(`${pad}m[p] = input.length ? input.shift() : 0;`);
    else if (run === '[') {
      lines.push(`${pad}while (m[p]) {`);
      depth++;
    } else {
      if (--depth < 0) throw new SyntaxError('unexpected ]');
      lines.push('  '.repeat(depth) + '}');
    }
  }
  if (depth) throw new SyntaxError('missing ]');
  return lines.join('\n');
}

function run(source, text = '') {
  const program = new Function('m', 'input', 'out', `let p = 0;\n${compile(source)}`);
  const out = [];
  program(new Uint8Array(1000), [...Buffer.from(text)], out);
  return Buffer.from(out).toString();
}

console.log(compile('++[>+++<-]>.,[-]'));
console.log(run('++++++++++[>+++++++>++++++++++>+++>+<<<<-]>++.>+.+++++++..+++.>++.<<+++++++++++++++.>.+++.------.--------.>+.'));
console.log(run(',[.,]', 'echo 你好 🦀'), run('>,[>,]<[.<]', 'reverse'));
const squares = '++++[>+++++<-]>[<+++++>-]+<+[>[>+>+<<-]++>>[<<+>>-]>>>[-]++>[-]+>>>+[[-]++++++>>>]<<<[[<++++++++<++>>-]+<.<[>----<-]<]<<[>>>>>[>>>[-]+++++++++<[>-<-]+++++++++>[-[<->-]+[<<<]]<[>+<-]>]<<-]<<-]';
console.log(run(squares).trim().split('\n').slice(0, 20).join(' '));
for (const bad of ['[[]', ']']) {
  try {
    run(bad);
  } catch (error) {
    console.log(error.message);
  }
}
