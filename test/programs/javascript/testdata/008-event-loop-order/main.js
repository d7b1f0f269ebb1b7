// In which order synchronous code, microtasks, ticks and timers run.
const order = [];
const log = (what) => order.push(what);

setTimeout(() => log('timeout'), 0);
setTimeout(() => {
  log('later timeout');
  process.nextTick(() => log('tick inside timeout'));
  Promise.resolve().then(() => log('promise inside timeout'));
  setImmediate(() => log('immediate inside timeout'));
}, 5);
process.nextTick(() => log('tick'));
Promise.resolve()
  .then(() => log('promise'))
  .then(() => log('second promise'))
  .finally(() => log('finally'));
queueMicrotask(() => log('microtask'));
(async () => {
  log('async start');
  await null;
  log('after await');
  for await (const n of [Promise.resolve(1), 2]) log(`for await ${n}`);
})();
log('sync end');

process.on('beforeExit', () => {
  if (order.includes('before exit')) return;
  log('before exit');
  order.forEach((what, i) => console.log(String(i + 1).padStart(2), what));
});
process.on('exit', (code) => console.log('exit with', code));
