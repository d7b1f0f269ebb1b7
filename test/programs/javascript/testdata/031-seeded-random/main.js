// A seeded generator (mulberry32), shuffles, dice, a normal distribution, Monte Carlo.
function generator(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const random = generator(2024);
const integer = (low, high) => low + Math.floor(random() * (high - low + 1));
const shuffle = (items) => {
  const a = [...items];
  for (let i = a.length - 1; i > 0; i--) {
    const j = integer(0, i);
    [a[i], a[j]] = [a[j], a[i]];
  }
  return a;
};

console.log(Array.from({ length: 5 }, random).map((x) => x.toFixed(6)).join(' '));
console.log('shuffled:', shuffle('♠♥♦♣🂡🃏').join(' '), shuffle(Array(10).keys()).join(''));

const rolls = new Array(11).fill(0);
for (let i = 0; i < 36000; i++) rolls[integer(1, 6) + integer(1, 6) - 2]++;
rolls.forEach((n, i) => console.log(String(i + 2).padStart(2), '█'.repeat(Math.round(n / 150)), n));

let inside = 0;
for (let i = 0; i < 1e6; i++) {
  const [x, y] = [random(), random()];
  if (x * x + y * y < 1) inside++;
}
console.log('π ≈', (inside * 4) / 1e6);

function percolates(size, p) {
  let wet = Array(size).fill(true);
  for (let row = 0; row < size; row++) {
    const open = Array.from({ length: size }, () => random() < p);
    const next = open.map((o, i) => o && wet[i]);
    for (let i = 1; i < size; i++) next[i] ||= open[i] && next[i - 1];
    for (let i = size - 2; i >= 0; i--) next[i] ||= open[i] && next[i + 1];
    wet = next;
  }
  return wet.some(Boolean);
}
for (const p of [0.5, 0.7, 0.8, 0.9]) {
  const hits = Array.from({ length: 300 }, () => percolates(20, p)).filter(Boolean).length;
  console.log(`density ${p}: the water comes through in ${((hits / 300) * 100).toFixed(1)} %`);
}
