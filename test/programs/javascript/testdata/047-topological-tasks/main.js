// Dependency order, parallel batches, cycles named, the critical path with durations.
const TASKS = {
  design: { needs: [], days: 3 }, database: { needs: ['design'], days: 4 }, api: { needs: ['database'], days: 5 },
  ui: { needs: ['design'], days: 6 }, texts: { needs: [], days: 2 }, übersetzung: { needs: ['texts'], days: 3 },
  test: { needs: ['api', 'ui', 'übersetzung'], days: 2 }, release: { needs: ['test'], days: 1 },
};

function order(tasks) {
  const state = new Map(), out = [];
  const visit = (name, path) => {
    if (state.get(name) === 'done') return;
    if (state.get(name) === 'open') throw new Error(`cycle: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`);
    if (!tasks[name]) throw new Error(`unknown task: ${name}`);
    state.set(name, 'open');
    for (const need of tasks[name].needs) visit(need, [...path, name]);
    state.set(name, 'done');
    out.push(name);
  };
  Object.keys(tasks).forEach((name) => visit(name, []));
  return out;
}

function batches(tasks) {
  const waiting = new Map(Object.entries(tasks).map(([name, { needs }]) => [name, new Set(needs)]));
  const out = [];
  while (waiting.size) {
    const ready = [...waiting].filter(([, needs]) => needs.size === 0).map(([name]) => name);
    for (const name of ready) waiting.delete(name);
    for (const needs of waiting.values()) ready.forEach((name) => needs.delete(name));
    out.push(ready);
  }
  return out;
}

function plan(tasks) {
  const end = {}, from = {};
  for (const name of order(tasks)) {
    from[name] = tasks[name].needs.reduce((a, b) => (end[b] > (end[a] ?? -1) ? b : a), undefined);
    end[name] = (end[from[name]] ?? 0) + tasks[name].days;
  }
  const path = [];
  for (let name = Object.keys(end).reduce((a, b) => (end[b] > end[a] ? b : a)); name; name = from[name]) path.unshift(name);
  return { end, path };
}

console.log(order(TASKS).join(', '));
batches(TASKS).forEach((batch, i) => console.log(`batch ${i + 1}:`, batch.join(', ')));
const { end, path } = plan(TASKS);
for (const name of Object.keys(TASKS)) {
  const start = end[name] - TASKS[name].days;
  console.log(name.padEnd(12), ' '.repeat(start) + (path.includes(name) ? '█' : '░').repeat(TASKS[name].days));
}
console.log('critical:', path.join(' → '), 'in', end.release, 'days');
for (const broken of [{ a: { needs: ['b'] }, b: { needs: ['c'] }, c: { needs: ['a'] } }, { x: { needs: ['nothing'] } }]) {
  try {
    order(broken);
  } catch (error) {
    console.log(error.message);
  }
}
