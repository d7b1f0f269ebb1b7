// Async iteration: a paged source, map and batch over it, early return, events as a stream.
import { EventEmitter, on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

async function* pages(count, size) {
  try {
    for (let page = 0; page < count; page++) {
      await sleep(1);
      yield Array.from({ length: size }, (_, i) => page * size + i);
    }
  } finally {
    console.log('(source closed)');
  }
}

async function* flatten(source) {
  for await (const items of source) yield* items;
}

async function* batch(source, size) {
  let group = [];
  for await (const item of source) {
    group.push(item);
    if (group.length === size) {
      yield group;
      group = [];
    }
  }
  if (group.length) yield group;
}

for await (const group of batch(flatten(pages(3, 5)), 4)) console.log(group);

for await (const item of flatten(pages(100, 3))) {
  if (item === 4) break;
  console.log('item', item);
}

const emitter = new EventEmitter();
const abort = new AbortController();
setImmediate(() => {
  for (const word of ['eins', 'zwei', 'drei']) emitter.emit('word', word, word.length);
  setImmediate(() => abort.abort());
});
try {
  for await (const [word, length] of on(emitter, 'word', { signal: abort.signal })) console.log(word, length);
} catch (error) {
  console.log('stopped by', error.name);
}
