// Locks for asynchronous code: mutex, semaphore, read-write lock, barrier, bounded queue.
import { setTimeout as sleep, setImmediate as tick } from 'node:timers/promises';

class Semaphore {
  #waiting = [];
  constructor(free) { this.free = free; }
  async acquire() {
    if (this.free > 0) this.free--;
    else await new Promise((resolve) => this.#waiting.push(resolve));
  }
  release() {
    const next = this.#waiting.shift();
    if (next) next();
    else this.free++;
  }
  async run(action) {
    await this.acquire();
    try {
      return await action();
    } finally {
      this.release();
    }
  }
}

const balance = { value: 100 };
const withdraw = async (amount) => {
  const seen = balance.value;
  await tick();
  if (seen >= amount) balance.value = seen - amount;
};
await Promise.all([withdraw(60), withdraw(60), withdraw(30)]);
console.log('without a lock:', balance.value);
balance.value = 100;
const mutex = new Semaphore(1);
await Promise.all([60, 60, 30].map((amount) => mutex.run(() => withdraw(amount))));
console.log('with a lock:', balance.value);

let running = 0, peak = 0;
const limit = new Semaphore(3);
const done = await Promise.all(Array.from({ length: 9 }, (_, i) => limit.run(async () => {
  peak = Math.max(peak, ++running);
  await sleep(1);
  running--;
  return i * i;
})));
console.log(done.join(' '), 'peak', peak);
await mutex.run(() => Promise.reject(new Error('inside'))).catch((e) => console.log('released after', e.message, mutex.free));

class Channel {
  #items = [];
  #takers = [];
  #putters = [];
  constructor(size) { this.size = size; }
  async put(item) {
    if (this.#takers.length) return this.#takers.shift()({ value: item, done: false });
    while (this.#items.length >= this.size) await new Promise((resolve) => this.#putters.push(resolve));
    this.#items.push(item);
  }
  close() {
    this.closed = true;
    this.#takers.splice(0).forEach((take) => take({ done: true }));
  }
  async next() {
    if (this.#items.length) {
      const value = this.#items.shift();
      this.#putters.shift()?.();
      return { value, done: false };
    }
    return this.closed ? { done: true } : new Promise((resolve) => this.#takers.push(resolve));
  }
  [Symbol.asyncIterator]() { return this; }
}
const channel = new Channel(2);
const log = [];
const producer = (async () => {
  for (const word of ['uno', 'dos', 'tres', '四', 'fünf']) {
    await channel.put(word);
    log.push(`+${word}`);
  }
  await tick();
  channel.close();
})();
for await (const word of channel) log.push(`-${word}`);
await producer;
console.log(log.join(' '));

const controller = new AbortController();
const waiting = sleep(10_000, null, { signal: controller.signal }).catch((e) => `${e.name} ${e.code}`);
controller.abort();
console.log(await waiting, await Promise.race([sleep(5, 'slow'), tick('fast')]));
const signal = AbortSignal.timeout(5);
await sleep(50);
console.log(signal.aborted, signal.reason.name);
