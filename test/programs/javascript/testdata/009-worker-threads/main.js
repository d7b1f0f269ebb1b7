// Worker threads: sums in parts, shared memory with atomics, messages both ways.
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

if (!isMainThread) {
  const { from, to, counter } = workerData;
  const view = new Int32Array(counter);
  let sum = 0;
  for (let n = from; n < to; n++) {
    sum += n % 3 === 0 || n % 5 === 0 ? n : 0;
    if (n % 1000 === 0) Atomics.add(view, 0, 1);
  }
  parentPort.once('message', (text) => {
    parentPort.postMessage({ sum, reply: [...text].reverse().join('') });
  });
} else {
  const counter = new SharedArrayBuffer(4);
  const run = (from, to) =>
    new Promise((resolve, reject) => {
      const worker = new Worker(__filename, { workerData: { from, to, counter } });
      worker.once('message', resolve);
      worker.once('error', reject);
      worker.postMessage(`${from} 你好 🦀`);
    });
  (async () => {
    const parts = await Promise.all([run(0, 500000), run(500000, 1000000)]);
    for (const { sum, reply } of parts) console.log(sum, reply);
    console.log('total', parts.reduce((total, part) => total + part.sum, 0));
    console.log('counted by both:', new Int32Array(counter)[0]);
    const failing = new Worker('throw new TypeError("in the worker")', { eval: true });
    failing.on('error', (error) => console.log(error.name, error.message));
    failing.on('exit', (code) => console.log('worker ended with', code));
  })();
}
