// Map-reduce over worker threads: each maps a chapter, the main thread reduces in order.
import { Worker } from 'node:worker_threads';
import { readFileSync } from 'node:fs';
import { merge, top } from './lib/reduce.mjs';

const chapters = readFileSync(0, 'utf8').split(/^# .*\n/m).filter((c) => c.trim());

class Pool {
  #idle;
  #queue = [];
  constructor(size, url) {
    this.#idle = Array.from({ length: size }, () => new Worker(url));
  }
  run(data) {
    return new Promise((resolve, reject) => {
      this.#queue.push({ data, resolve, reject });
      this.#next();
    });
  }
  #next() {
    if (!this.#idle.length || !this.#queue.length) return;
    const worker = this.#idle.pop();
    const { data, resolve, reject } = this.#queue.shift();
    worker.once('message', ({ error, result }) => {
      this.#idle.push(worker);
      error ? reject(new Error(error)) : resolve(result);
      this.#next();
    });
    worker.postMessage(data);
  }
  close() { return Promise.all(this.#idle.map((w) => w.terminate())); }
}

const pool = new Pool(2, new URL('./lib/map.mjs', import.meta.url));
const counts = await Promise.all(chapters.map((chapter) => pool.run(chapter)));
counts.forEach((c, i) => console.log(`chapter ${i + 1}:`, c.size, 'words, most:', top(c, 2).join(' ')));
const total = counts.reduce(merge);
console.log('together:', top(total, 5).join(', '));
await pool.run(null).catch((error) => console.log('worker said:', error.message));
await pool.close();
