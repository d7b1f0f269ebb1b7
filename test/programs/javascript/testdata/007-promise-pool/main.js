// At most three tasks at a time; results in order, failures kept apart.
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function pool(tasks, size) {
  const results = new Array(tasks.length);
  let next = 0, running = 0, most = 0;
  const worker = async () => {
    while (next < tasks.length) {
      const mine = next++;
      most = Math.max(most, ++running);
      try {
        results[mine] = { value: await tasks[mine]() };
      } catch (error) {
        results[mine] = { error: error.message };
      }
      running--;
    }
  };
  await Promise.all(Array.from({ length: size }, worker));
  return { results, most };
}

async function retry(action, times) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action(attempt);
    } catch (error) {
      if (attempt === times) throw new Error('gave up', { cause: error });
    }
  }
}

(async () => {
  const tasks = Array.from({ length: 10 }, (_, i) => async () => {
    await sleep((10 - i) % 4);
    if (i % 4 === 3) throw new RangeError(`task ${i} failed`);
    return i * i;
  });
  const { results, most } = await pool(tasks, 3);
  results.forEach((r, i) => console.log(i, r));
  console.log('at the same time:', most);

  console.log(await retry((n) => (n < 3 ? Promise.reject(new Error('no')) : `worked at attempt ${n}`), 5));
  await retry(() => Promise.reject(new Error('never')), 2).catch((e) => console.log(e.message, 'because', e.cause.message));
  const settled = await Promise.allSettled([1, Promise.reject(new Error('x')), sleep(1)]);
  console.log(settled.map((s) => s.status), await Promise.race([sleep(300).then(() => 'slow'), 'fast']));
  console.log(await Promise.any([Promise.reject(1), 2]), await Promise.any([Promise.reject(1)]).catch((e) => e.constructor.name));
})();
