// The shortest chain of words that differ by one letter.
const WORDS = 'cold cord card ward warm worm word wold cole core care dare dart cart corm form farm harm hard'.split(' ');

const differ = (a, b) => [...a].filter((c, i) => c !== b[i]).length;

const graph = new Map(WORDS.map((w) => [w, WORDS.filter((v) => differ(w, v) === 1)]));

function ladder(from, to) {
  const previous = new Map([[from, null]]);
  const queue = [from];
  for (const word of queue) {
    if (word === to) break;
    for (const next of graph.get(word)) {
      if (!previous.has(next)) {
        previous.set(next, word);
        queue.push(next);
      }
    }
  }
  if (!previous.has(to)) return null;
  const path = [];
  for (let word = to; word; word = previous.get(word)) path.unshift(word);
  return path;
}

for (const [from, to] of [['cold', 'warm'], ['dare', 'form'], ['hard', 'cole'], ['core', 'core']]) {
  console.log(`${from} to ${to}:`, ladder(from, to).join(' → '));
}
const busiest = [...graph].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))[0];
console.log('most neighbours:', busiest[0], busiest[1]);
