// Connect four: bit boards, alpha-beta search, two players of different depth.
const WIDTH = 7, HEIGHT = 6;
const LINES = [];
for (let x = 0; x < WIDTH; x++) for (let y = 0; y < HEIGHT; y++) {
  for (const [dx, dy] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
    const line = [0, 1, 2, 3].map((k) => [x + k * dx, y + k * dy]);
    if (line.every(([a, b]) => a < WIDTH && b >= 0 && b < HEIGHT)) LINES.push(line.map(([a, b]) => b * WIDTH + a));
  }
}

class Board {
  cells = new Int8Array(WIDTH * HEIGHT);
  heights = new Int8Array(WIDTH);
  moves = 0;
  play(x, player) { this.cells[this.heights[x]++ * WIDTH + x] = player; this.moves++; }
  undo(x) { this.cells[--this.heights[x] * WIDTH + x] = 0; this.moves--; }
  get open() { return [3, 2, 4, 1, 5, 0, 6].filter((x) => this.heights[x] < HEIGHT); }
  score(player) {
    let total = 0;
    for (const [a, b, c, d] of LINES) {
      const s = this.cells[a] + this.cells[b] + this.cells[c] + this.cells[d];
      if (s === 4 || s === -4) return (s > 0) === (player > 0) ? 10000 - this.moves : this.moves - 10000;
      if (s === 3 || s === -3) total += s * player * 3;
      else if (s === 2 || s === -2) total += s * player;
    }
    return total;
  }
  toString() {
    const rows = [];
    for (let y = HEIGHT - 1; y >= 0; y--) rows.push([...this.cells.subarray(y * WIDTH, y * WIDTH + WIDTH)].map((c) => (c > 0 ? '●' : c < 0 ? '○' : '·')).join(' '));
    return rows.join('\n');
  }
}

let visited = 0;
function search(board, player, depth, alpha, beta) {
  visited++;
  const score = board.score(player);
  if (depth === 0 || Math.abs(score) > 9000 || board.moves === WIDTH * HEIGHT) return { score };
  let best = { score: -Infinity };
  for (const x of board.open) {
    board.play(x, player);
    const value = -search(board, -player, depth - 1, -beta, -alpha).score;
    board.undo(x);
    if (value > best.score) best = { score: value, x };
    alpha = Math.max(alpha, value);
    if (alpha >= beta) break;
  }
  return best;
}

const board = new Board();
let player = 1, record = '';
while (Math.abs(board.score(1)) < 9000 && board.moves < WIDTH * HEIGHT) {
  const { x } = search(board, player, player > 0 ? 5 : 2, -Infinity, Infinity);
  board.play(x, player);
  record += x + 1;
  player = -player;
}
console.log(board.toString());
console.log('moves:', record);
console.log('winner:', board.score(1) > 9000 ? 'the deep one' : board.score(1) < -9000 ? 'the shallow one' : 'nobody', '| positions visited:', visited);
