// Sudoku by bit masks, fewest candidates first; boards come from standard input.
const boards = require('node:fs').readFileSync(0, 'utf8').trim().split(/\s+/);

function solve(text) {
  const cells = new Uint8Array(81);
  const rows = new Uint16Array(9), columns = new Uint16Array(9), boxes = new Uint16Array(9);
  let guesses = 0;
  const box = (i) => 3 * Math.floor(i / 27) + Math.floor((i % 9) / 3);
  const toggle = (i, digit) => {
    const bit = 1 << digit;
    rows[Math.floor(i / 9)] ^= bit;
    columns[i % 9] ^= bit;
    boxes[box(i)] ^= bit;
  };
  const candidates = (i) => {
    const used = rows[Math.floor(i / 9)] | columns[i % 9] | boxes[box(i)];
    return [1, 2, 3, 4, 5, 6, 7, 8, 9].filter((d) => !(used & (1 << d)));
  };
  for (let i = 0; i < 81; i++) {
    const digit = Number(text[i]) || 0;
    if (digit === 0) continue;
    if (!candidates(i).includes(digit)) return { error: `cell ${i + 1} contradicts` };
    cells[i] = digit;
    toggle(i, digit);
  }
  const search = () => {
    let best = -1, options = null;
    for (let i = 0; i < 81; i++) {
      if (cells[i]) continue;
      const found = candidates(i);
      if (!options || found.length < options.length) [best, options] = [i, found];
      if (options.length < 2) break;
    }
    if (best < 0) return true;
    for (const digit of options) {
      guesses += options.length > 1;
      cells[best] = digit;
      toggle(best, digit);
      if (search()) return true;
      toggle(best, digit);
      cells[best] = 0;
    }
    return false;
  };
  return search() ? { cells, guesses } : { error: 'no solution' };
}

for (const text of boards) {
  const { cells, guesses, error } = solve(text);
  if (error) {
    console.log(error);
    continue;
  }
  for (let r = 0; r < 9; r++) console.log([...cells.slice(9 * r, 9 * r + 9)].join(' ').replace(/^(.{5}) (.{5}) /, '$1 │ $2 │ '));
  console.log(guesses === 0 ? 'no guesses\n' : 'with guesses\n');
}
