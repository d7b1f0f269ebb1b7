// Chess problems: FEN reader, legal-looking moves counted, a knight's tour, queens that guard.
const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR';
const FIGURES = { k: '♚', q: '♛', r: '♜', b: '♝', n: '♞', p: '♟', K: '♔', Q: '♕', R: '♖', B: '♗', N: '♘', P: '♙' };
const parse = (fen) => fen.split('/').map((row) => [...row].flatMap((c) => (c > '0' && c < '9' ? Array(Number(c)).fill(null) : [c])));
const draw = (board) => board.map((row, y) => `${8 - y} ${row.map((c) => FIGURES[c] ?? '·').join(' ')}`).join('\n') + '\n  a b c d e f g h';
const name = (x, y) => 'abcdefgh'[x] + (8 - y);

const RAYS = { r: [[1, 0], [-1, 0], [0, 1], [0, -1]], b: [[1, 1], [1, -1], [-1, 1], [-1, -1]] };
RAYS.q = RAYS.k = [...RAYS.r, ...RAYS.b];
const JUMPS = [[1, 2], [2, 1], [2, -1], [1, -2], [-1, -2], [-2, -1], [-2, 1], [-1, 2]];

function* moves(board, white) {
  const own = (c) => c && (c === c.toUpperCase()) === white;
  for (let y = 0; y < 8; y++) for (let x = 0; x < 8; x++) {
    const c = board[y][x];
    if (!own(c)) continue;
    const kind = c.toLowerCase();
    if (kind === 'p') {
      const dy = white ? -1 : 1;
      if (board[y + dy]?.[x] === null) {
        yield [x, y, x, y + dy];
        if (y === (white ? 6 : 1) && board[y + 2 * dy][x] === null) yield [x, y, x, y + 2 * dy];
      }
      for (const dx of [-1, 1]) if (board[y + dy]?.[x + dx] && !own(board[y + dy][x + dx])) yield [x, y, x + dx, y + dy];
      continue;
    }
    for (const [dx, dy] of kind === 'n' ? JUMPS : RAYS[kind]) {
      for (let [u, v] = [x + dx, y + dy]; u >= 0 && u < 8 && v >= 0 && v < 8 && !own(board[v][u]); u += dx, v += dy) {
        yield [x, y, u, v];
        if ('nk'.includes(kind) || board[v][u]) break;
      }
    }
  }
}

function count(board, white, depth) {
  if (depth === 0) return 1;
  let total = 0;
  for (const [x, y, u, v] of moves(board, white)) {
    const taken = board[v][u];
    [board[v][u], board[y][x]] = [board[y][x], null];
    total += taken?.toLowerCase() === 'k' ? 0 : count(board, !white, depth - 1);
    [board[y][x], board[v][u]] = [board[v][u], taken];
  }
  return total;
}

const board = parse(START);
console.log(draw(board));
for (let depth = 1; depth <= 3; depth++) console.log('positions after', depth, 'moves:', count(board, true, depth));
const puzzle = parse('4k3/8/8/3q4/4P3/8/8/4K2R');
console.log([...moves(puzzle, true)].map(([x, y, u, v]) => name(x, y) + name(u, v)).join(' '));

const order = new Map([['0,0', 1]]);
const onward = ([x, y]) => JUMPS.map(([dx, dy]) => [x + dx, y + dy]).filter(([u, v]) => u >= 0 && u < 8 && v >= 0 && v < 8 && !order.has(`${u},${v}`));
for (let at = [0, 0]; (at = onward(at).sort((a, b) => onward(a).length - onward(b).length)[0]); ) order.set(`${at}`, order.size + 1);
for (let y = 0; y < 8; y++) console.log(Array.from({ length: 8 }, (_, x) => String(order.get(`${x},${y}`) ?? '--').padStart(2)).join(' '));
