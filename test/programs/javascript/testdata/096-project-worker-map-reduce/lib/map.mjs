import { parentPort } from 'node:worker_threads';

parentPort.on('message', (text) => {
  try {
    const counts = new Map();
    for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
    parentPort.postMessage({ result: counts });
  } catch (error) {
    parentPort.postMessage({ error: error.name });
  }
});
