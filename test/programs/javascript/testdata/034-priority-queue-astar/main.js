// A* on a grid of letters with a binary heap.
class Heap {
  #items = [];
  constructor(less) { this.less = less; }
  get size() { return this.#items.length; }
  push(item) {
    const a = this.#items;
    let i = a.push(item) - 1;
    for (let parent = (i - 1) >> 1; i > 0 && this.less(a[i], a[parent]); i = parent, parent = (i - 1) >> 1) [a[i], a[parent]] = [a[parent], a[i]];
  }
  pop() {
    const a = this.#items;
    const top = a[0];
    const last = a.pop();
    if (a.length) {
      a[0] = last;
      for (let i = 0; ; ) {
        let best = i;
        for (const child of [2 * i + 1, 2 * i + 2]) if (child < a.length && this.less(a[child], a[best])) best = child;
        if (best === i) break;
        [a[i], a[best]] = [a[best], a[i]];
        i = best;
      }
    }
    return top;
  }
}

const MAP = `
S..#.....~~~..
.#.#.###.~~~..
.#...#...~~~#.
.#####.#....#.
.......#.##.#G`.trim().split('\n').map((row) => [...row]);
const COST = { '.': 1, '~': 4, S: 1, G: 1 };
const find = (c) => MAP.flatMap((row, y) => row.flatMap((v, x) => (v === c ? [[x, y]] : [])))[0];
const [start, goal] = [find('S'), find('G')];

function search(heuristic) {
  const cost = new Map([[`${start}`, 0]]), from = new Map();
  const open = new Heap((a, b) => a.rank < b.rank || (a.rank === b.rank && a.order < b.order));
  let order = 0, expanded = 0;
  open.push({ at: start, rank: 0, order });
  while (open.size) {
    const { at: [x, y] } = open.pop();
    expanded++;
    if (x === goal[0] && y === goal[1]) break;
    for (const [dx, dy] of [[1, 0], [0, 1], [-1, 0], [0, -1]]) {
      const next = [x + dx, y + dy];
      const step = COST[MAP[next[1]]?.[next[0]]];
      const total = cost.get(`${x},${y}`) + step;
      if (step && !(cost.get(`${next}`) <= total)) {
        cost.set(`${next}`, total);
        from.set(`${next}`, [x, y]);
        open.push({ at: next, rank: total + heuristic(next), order: ++order });
      }
    }
  }
  const path = new Set();
  for (let at = goal; at; at = from.get(`${at}`)) path.add(`${at}`);
  return { path, cost: cost.get(`${goal}`), expanded };
}

const plain = search(() => 0);
const guided = search(([x, y]) => Math.abs(x - goal[0]) + Math.abs(y - goal[1]));
console.log(MAP.map((row, y) => row.map((c, x) => (guided.path.has(`${x},${y}`) && c !== 'S' && c !== 'G' ? '●' : c)).join('')).join('\n'));
console.log('cost', guided.cost, 'the same without a guess:', plain.cost === guided.cost, 'cells expanded:', guided.expanded, 'and', plain.expanded);
