// Counts words, lets two timers race, and speaks more than ASCII.
const text = "the quick brown fox jumps over the lazy dog and the quick cat";
const counts = new Map();
for (const word of text.split(" ")) counts.set(word, (counts.get(word) ?? 0) + 1);
const top = [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0])).slice(0, 3);

const sleep = (ms, value) => new Promise((done) => setTimeout(done, ms, value));
(async () => {
  const winner = await Promise.race([sleep(20, "the tortoise"), sleep(5, "the hare")]);
  console.log(top.map(([word, n]) => `${word}: ${n}`).join(", "));
  console.log(`${winner} was first — héllo 你好 🦀`);
})();
