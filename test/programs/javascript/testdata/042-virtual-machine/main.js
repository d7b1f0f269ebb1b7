// A register machine with an assembler, labels, a call stack and traps.
const PROGRAM = `
        set   r0 1
        set   r1 0
loop:   call  collatz
        jle   r3 r1 next
        mov   r1 r3
        mov   r2 r0
next:   add   r0 1
        jle   r0 1000 loop
        out   r2
        out   r1
        set   r5 7
        div   r5 0
        halt
; steps of r0 in r3
collatz: mov  r4 r0
        set   r3 0
again:  jle   r4 1 back
        add   r3 1
        mov   r6 r4
        mod   r6 2
        jle   r6 0 even
        mul   r4 3
        add   r4 1
        jmp   again
even:   div   r4 2
        jmp   again
back:   ret`;

function assemble(source) {
  const labels = {}, code = [];
  for (const line of source.split('\n').map((l) => l.replace(/;.*/, '').trim()).filter(Boolean)) {
    const [, label, rest] = /^(?:(\w+):)?\s*(.*)$/.exec(line);
    if (label) labels[label] = code.length;
    if (rest) code.push(rest.split(/\s+/));
  }
  return code.map(([op, ...args]) => [op, ...args.map((a) => (a in labels ? labels[a] : /^r\d$/.test(a) ? a : Number(a)))]);
}

class Trap extends Error {}

function run(code, limit) {
  const r = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`r${i}`, 0]));
  const value = (x) => (typeof x === 'string' ? r[x] : x);
  const stack = [], output = [];
  let pc = 0, steps = 0;
  const ops = {
    set: (a, b) => (r[a] = b), mov: (a, b) => (r[a] = r[b]),
    add: (a, b) => (r[a] += value(b)), mul: (a, b) => (r[a] *= value(b)), mod: (a, b) => (r[a] %= value(b)),
    div: (a, b) => {
      if (value(b) === 0) throw new Trap(`division by zero at ${pc - 1}`);
      r[a] = Math.trunc(r[a] / value(b));
    },
    jmp: (to) => (pc = to), jle: (a, b, to) => r[a] <= value(b) && (pc = to),
    call: (to) => (stack.push(pc), (pc = to)), ret: () => (pc = stack.pop()),
    out: (a) => output.push(r[a]), halt: () => (pc = code.length),
  };
  try {
    while (pc < code.length) {
      if (++steps > limit) throw new Trap(`more than ${limit} steps`);
      const [op, ...args] = code[pc++];
      ops[op](...args);
    }
  } catch (error) {
    if (!(error instanceof Trap)) throw error;
    output.push(`trap: ${error.message}`);
  }
  return { output, steps, r };
}

const code = assemble(PROGRAM);
console.log(code.length, 'instructions, the third:', code[2].join(' '));
const { output, steps, r } = run(code, 1e7);
console.log(output, steps, r);
console.log(run(assemble('here: jmp here'), 1000).output);
