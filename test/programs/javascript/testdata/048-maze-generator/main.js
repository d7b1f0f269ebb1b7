// Kruskal's maze with box-drawing walls, solved by filling dead ends.
let seed = 5;
const random = (n) => {
  seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff;
  return (seed >> 8) % n;
};

const [W, H] = [24, 8];
const id = (x, y) => y * W + x;
const walls = [];
for (let y = 0; y < H; y++) for (let x = 0; x < W; x++) {
  if (x + 1 < W) walls.push([id(x, y), id(x + 1, y)]);
  if (y + 1 < H) walls.push([id(x, y), id(x, y + 1)]);
}
for (let i = walls.length - 1; i > 0; i--) {
  const j = random(i + 1);
  [walls[i], walls[j]] = [walls[j], walls[i]];
}
const parent = Array.from({ length: W * H }, (_, i) => i);
const find = (x) => (parent[x] === x ? x : (parent[x] = find(parent[x])));
const open = Array.from({ length: W * H }, () => new Set());
for (const [a, b] of walls) {
  if (find(a) === find(b)) continue;
  parent[find(a)] = find(b);
  open[a].add(b);
  open[b].add(a);
}

const left = open.map((s) => new Set(s));
const [start, goal] = [0, W * H - 1];
const dead = [...left.keys()].filter((c) => left[c].size === 1 && c !== start && c !== goal);
while (dead.length) {
  const cell = dead.pop();
  const [next] = left[cell];
  left[cell].clear();
  left[next].delete(cell);
  if (left[next].size === 1 && next !== start && next !== goal) dead.push(next);
}
const path = new Set([...left.keys()].filter((c) => left[c].size > 0));

const wall = (x, y, side) => {
  const [dx, dy] = side;
  const inside = (i, j) => i >= 0 && i < W && j >= 0 && j < H;
  const [a, b] = [[x, y], [x + dx, y + dy]];
  return !(inside(...a) && inside(...b) && open[id(...a)].has(id(...b)));
};
for (let y = 0; y <= H; y++) {
  let top = '', middle = '';
  for (let x = 0; x <= W; x++) {
    const up = y > 0 && wall(x - 1, y - 1, [1, 0]), down = y < H && wall(x - 1, y, [1, 0]);
    const before = x > 0 && wall(x - 1, y - 1, [0, 1]), after = x < W && wall(x, y - 1, [0, 1]);
    top += ' ╵╷│╴┘┐┤╶└┌├─┴┬┼'[up + 2 * down + 4 * before + 8 * after] + (x < W ? (after ? '──' : '  ') : '');
    middle += (down ? '│' : ' ') + (x < W && y < H ? (path.has(id(x, y)) ? '••' : '  ') : '');
  }
  console.log(top);
  if (y < H) console.log(middle);
}
console.log('cells on the way:', path.size);
