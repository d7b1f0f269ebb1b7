// Myers' difference algorithm on lines, patches that apply and reverse.
function diff(a, b) {
  const trace = [];
  let v = new Map([[1, 0]]);
  for (let d = 0; d <= a.length + b.length; d++) {
    trace.push(new Map(v));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1)) ? v.get(k + 1) : v.get(k - 1) + 1;
      while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
      v.set(k, x);
      if (x >= a.length && x - k >= b.length) return walk(trace, a, b);
    }
  }
}

function walk(trace, a, b) {
  let [x, y] = [a.length, b.length];
  const edits = [];
  for (let d = trace.length - 1; d >= 0; d--) {
    const v = trace[d], k = x - y;
    const before = k === -d || (k !== d && v.get(k - 1) < v.get(k + 1)) ? k + 1 : k - 1;
    const px = v.get(before), py = px - before;
    while (x > px && y > py && x && y) edits.push([' ', a[--x], y--]);
    if (d > 0) edits.push(x === px ? ['+', b[--y]] : ['-', a[--x]]);
  }
  return edits.reverse().map(([sign, line]) => [sign, line]);
}

const apply = (edits, drop) => edits.filter(([sign]) => sign !== drop).map(([, line]) => line);
const OLD = ['const a = 1;', 'let b;', 'function f() {', '  return a;', '}', 'f();'];
const NEW = ['// 说明', 'const a = 1;', 'function f() {', '  return a + 1;', '}', 'f();', 'f(); // 🦀'];
const edits = diff(OLD, NEW);
for (const [sign, line] of edits) console.log(sign, line);
console.log('forward:', apply(edits, '-').join() === NEW.join(), 'backward:', apply(edits, '+').join() === OLD.join());
const letters = diff([...'ABCABBA'], [...'CBABAC']);
console.log(letters.map(([sign, c]) => (sign === ' ' ? c : sign + c)).join(' '), letters.filter(([s]) => s !== ' ').length, 'edits');
console.log(diff([], ['x']), diff(['x'], []), diff(['s'], ['s']));
