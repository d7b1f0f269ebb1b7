// Dynamic programs: knapsack with items, subset sums, cutting rods, palindromes, egg drops.
const items = [['tent 🏕', 30, 90], ['stove', 12, 55], ['rope', 8, 20], ['axe', 15, 40], ['food', 22, 85], ['книга', 6, 12], ['lamp', 5, 25]];

function knapsack(items, capacity) {
  const best = [Array(capacity + 1).fill(0)];
  items.forEach(([, weight, value], i) => best.push(best[i].map((without, room) => (room >= weight ? Math.max(without, best[i][room - weight] + value) : without))));
  const chosen = [];
  for (let i = items.length, room = capacity; i > 0; i--) {
    if (best[i][room] !== best[i - 1][room]) {
      chosen.unshift(items[i - 1][0]);
      room -= items[i - 1][1];
    }
  }
  return { value: best.at(-1)[capacity], chosen };
}
for (const capacity of [10, 40, 75]) console.log(capacity, knapsack(items, capacity));

function split(numbers) {
  const total = numbers.reduce((a, b) => a + b);
  let reachable = 1n;
  for (const n of numbers) reachable |= reachable << BigInt(n);
  let half = Math.floor(total / 2);
  while (!((reachable >> BigInt(half)) & 1n)) half--;
  return [half, total - half];
}
console.log('fair split:', split([31, 10, 15, 9, 4, 27, 50]), split([1, 1, 100]));

const rod = (prices) => prices.reduce((best, _, n) => [...best, Math.max(...prices.slice(0, n + 1).map((p, k) => p + best[n - k]))], [0]).at(-1);
console.log('rod of 8:', rod([1, 5, 8, 9, 10, 17, 17, 20]));

function palindromeCuts(text) {
  const c = [...text], n = c.length;
  const is = Array.from({ length: n }, () => Array(n).fill(false));
  const best = [];
  for (let j = 0; j < n; j++) {
    best[j] = { cuts: Infinity };
    for (let i = j; i >= 0; i--) {
      is[i][j] = c[i] === c[j] && (j - i < 2 || is[i + 1][j - 1]);
      const before = i ? best[i - 1] : { cuts: -1, parts: [] };
      if (is[i][j] && before.cuts + 1 < best[j].cuts) best[j] = { cuts: before.cuts + 1, parts: [...before.parts, c.slice(i, j + 1).join('')] };
    }
  }
  return best.at(-1).parts;
}
for (const word of ['racecarannakayak', 'aab', '🦀x🦀上海海上']) console.log(word, '→', palindromeCuts(word).join(' | '));

const eggs = (k, floors) => {
  let dp = Array(k + 1).fill(0), tries = 0;
  for (; dp[k] < floors; tries++) dp = dp.map((v, i) => (i ? v + dp[i - 1] + 1 : 0));
  return tries;
};
console.log('egg drops:', eggs(1, 10), eggs(2, 100), eggs(3, 1000));
const paths = (grid) => grid.reduce((row, cells) => cells.reduce((out, blocked, x) => [...out, blocked ? 0 : (row[x] ?? 0) + (out[x - 1] ?? 0)], []), [1])
  .at(-1);
console.log('paths:', paths([[0, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]));
function longestIncreasing(a) {
  const tails = [];
  for (const x of a) {
    const at = tails.findIndex((t) => t >= x);
    tails[at < 0 ? tails.length : at] = x;
  }
  return tails.length;
}
console.log('increasing:', longestIncreasing([10, 9, 2, 5, 3, 7, 101, 18]), 'largest sum:', [-2, 1, -3, 4, -1, 2, 1, -5, 4].reduce(([best, run], x) => { run = Math.max(x, run + x); return [Math.max(best, run), run]; }, [-Infinity, 0])[0]);
