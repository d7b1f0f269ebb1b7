// Descriptive statistics, regression and a box plot over numbers from standard input.
const fs = require('node:fs');

const rows = fs.readFileSync(0, 'utf8').split('\n').filter((l) => /^\s*[^#\s]/.test(l)).map((l) => l.split(/[;\t]/));
const samples = new Map();
for (const [name, value] of rows) {
  const number = Number(value.replace(',', '.'));
  if (Number.isNaN(number)) console.log(`skipped ${name}: ${value.trim()}`);
  else samples.set(name, [...(samples.get(name) ?? []), number]);
}

const sum = (a) => a.reduce((x, y) => x + y, 0);
const mean = (a) => sum(a) / a.length;
const deviation = (a) => Math.sqrt(sum(a.map((x) => (x - mean(a)) ** 2)) / (a.length - 1));
const quantile = (a, q) => {
  const s = [...a].sort((x, y) => x - y), at = (s.length - 1) * q, low = Math.floor(at);
  return s[low] + (at - low) * ((s[low + 1] ?? s[low]) - s[low]);
};
const correlation = (a, b) => {
  const [ma, mb] = [mean(a), mean(b)];
  const top = sum(a.map((x, i) => (x - ma) * (b[i] - mb)));
  return top / Math.sqrt(sum(a.map((x) => (x - ma) ** 2)) * sum(b.map((x) => (x - mb) ** 2)));
};

for (const [name, a] of samples) {
  const [low, q1, median, q3, high] = [0, 0.25, 0.5, 0.75, 1].map((q) => quantile(a, q));
  const at = (x) => Math.round(x * 2);
  const plot = Array(60).fill(' ');
  for (let i = at(low); i <= at(high); i++) plot[i] = '─';
  for (let i = at(q1); i <= at(q3); i++) plot[i] = '▒';
  [plot[at(low)], plot[at(high)], plot[at(median)]] = ['├', '┤', '█'];
  console.log(name.padEnd(12), plot.join('').trimEnd());
  console.log(`  n ${a.length}, mean ${mean(a).toFixed(3)}, sd ${deviation(a).toFixed(3)}, quartiles ${[q1, median, q3].map((x) => x.toFixed(2)).join(' ')}`);
}
const [a, b] = [...samples.values()];
const n = Math.min(a.length, b.length);
console.log('correlation:', correlation(a.slice(0, n), b.slice(0, n)).toFixed(5));
const rank = (v) => v.map((x) => v.filter((y) => y < x).length + (v.filter((y) => y === x).length + 1) / 2);
console.log('by rank:', correlation(rank(a.slice(0, n)), rank(b.slice(0, n))).toFixed(5));
