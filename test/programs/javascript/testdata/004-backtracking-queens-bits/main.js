// Counts n-queens solutions with bit masks and draws the first symmetric one.
function count(n) {
  const all = (1 << n) - 1;
  const place = (columns, left, right) => {
    if (columns === all) return 1;
    let found = 0;
    for (let free = all & ~(columns | left | right); free; free &= free - 1) {
      const bit = free & -free;
      found += place(columns | bit, ((left | bit) << 1) & all, (right | bit) >> 1);
    }
    return found;
  };
  return place(0, 0, 0);
}

function* boards(n, row = 0, board = []) {
  if (row === n) return yield board;
  for (let c = 0; c < n; c++) {
    if (board.every((other, r) => other !== c && Math.abs(other - c) !== row - r)) yield* boards(n, row + 1, [...board, c]);
  }
}

for (let n = 1; n <= 10; n++) console.log(`${n}: ${count(n)}`);

const halfTurn = (board) => board.map((_, r) => board.length - 1 - board[board.length - 1 - r]);
const same = (a, b) => a.join() === b.join();
for (const board of boards(8)) {
  if (same(board, halfTurn(board))) {
    console.log(board.map((c) => '·'.repeat(c) + '♛' + '·'.repeat(7 - c)).join('\n'));
    break;
  }
}
console.log('symmetric ones of 8:', [...boards(8)].filter((b) => same(b, halfTurn(b))).length);
