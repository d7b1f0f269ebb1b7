// Counts the words of standard input as it streams in.
const readline = require('node:readline');

(async () => {
  const counts = new Map();
  let lines = 0, longest = '';
  for await (const line of readline.createInterface({ input: process.stdin })) {
    lines++;
    if ([...line].length > [...longest].length) longest = line;
    for (const [word] of line.toLowerCase().matchAll(/\p{L}+(?:['’]\p{L}+)*/gu)) counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  console.log(`${lines} lines, ${sorted.reduce((s, [, n]) => s + n, 0)} words, ${sorted.length} different`);
  for (const [word, n] of sorted.slice(0, 6)) console.log(word.padEnd(8), '▪'.repeat(n), n);
  console.log('longest line:', longest);
  const byLength = {};
  for (const [word] of sorted) byLength[[...word].length] = (byLength[[...word].length] ?? 0) + 1;
  console.log('by length:', byLength);
})();
