// Greedy algorithms: intervals, rooms, Huffman-free codes, change, job deadlines, gas stations.
const meetings = [['standup', 9, 10], ['設計', 9.5, 11], ['lunch', 12, 13], ['review', 10, 12], ['call', 11, 12], ['übergabe', 12.5, 14], ['retro', 13, 15]];

const select = (items) => {
  const chosen = [];
  for (const m of [...items].sort((a, b) => a[2] - b[2])) if (!chosen.length || m[1] >= chosen.at(-1)[2]) chosen.push(m);
  return chosen.map(([name]) => name);
};
const rooms = (items) => {
  const free = [], plan = [];
  for (const [name, start, end] of [...items].sort((a, b) => a[1] - b[1] || a[2] - b[2])) {
    let room = free.findIndex((until) => until <= start);
    if (room < 0) room = free.length;
    free[room] = end;
    plan.push(`${name}:${room + 1}`);
  }
  return { count: free.length, plan };
};
const merge = (intervals) => [...intervals].sort((a, b) => a[0] - b[0]).reduce((out, [s, e]) => {
  if (out.length && s <= out.at(-1)[1]) out.at(-1)[1] = Math.max(out.at(-1)[1], e);
  else out.push([s, e]);
  return out;
}, []);

console.log('most meetings:', select(meetings).join(', '));
console.log(rooms(meetings));
console.log('busy:', JSON.stringify(merge(meetings.map(([, s, e]) => [s, e]))), JSON.stringify(merge([[1, 4], [8, 10], [2, 6], [15, 18], [6, 7]])));

const jobs = [['a', 2, 100], ['b', 1, 19], ['c', 2, 27], ['d', 1, 25], ['e', 3, 15]];
const slots = [];
for (const [name, deadline] of [...jobs].sort((x, y) => y[2] - x[2])) {
  let slot = deadline - 1;
  while (slot >= 0 && slots[slot]) slot--;
  if (slot >= 0) slots[slot] = name;
}
console.log('jobs in order:', slots.join(''), 'profit', slots.reduce((s, n) => s + jobs.find((j) => j[0] === n)[2], 0));

const circuit = (gas, cost) => {
  let start = 0, tank = 0, total = 0;
  gas.forEach((g, i) => {
    tank += g - cost[i];
    total += g - cost[i];
    if (tank < 0) [start, tank] = [i + 1, 0];
  });
  return total < 0 ? -1 : start;
};
console.log('gas stations:', circuit([1, 2, 3, 4, 5], [3, 4, 5, 1, 2]), circuit([2, 3, 4], [3, 4, 3]));
const change = (amount, coins) => coins.map((c) => { const n = Math.floor(amount / c); amount -= n * c; return [n, c]; }).filter(([n]) => n);
console.log(change(289, [200, 100, 50, 20, 10, 5, 2, 1]).map(([n, c]) => `${n}×${c}`).join(' '));
const jump = (reach) => { let [steps, end, far] = [0, 0, 0]; for (let i = 0; i < reach.length - 1; i++) { far = Math.max(far, i + reach[i]); if (i === end) [steps, end] = [steps + 1, far]; } return steps; };
const candies = (r) => { const c = r.map(() => 1); for (let i = 1; i < r.length; i++) if (r[i] > r[i - 1]) c[i] = c[i - 1] + 1; for (let i = r.length - 2; i >= 0; i--) if (r[i] > r[i + 1]) c[i] = Math.max(c[i], c[i + 1] + 1); return c; };
console.log('jumps:', jump([2, 3, 1, 1, 4]), jump([1, 1, 1, 1]), 'candies:', candies([1, 0, 2, 2, 3, 1]).join(''));
