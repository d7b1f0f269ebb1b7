// Lindenmayer systems drawn with a turtle in characters; a fern of chance with a seed.
const rewrite = (axiom, rules, n) => (n ? rewrite([...axiom].map((c) => rules[c] ?? c).join(''), rules, n - 1) : axiom);

function turtle(path, angle, heading = 0) {
  const stack = [], points = [];
  let [x, y] = [0, 0];
  for (const c of path) {
    if (c === '+') heading += angle;
    else if (c === '-') heading -= angle;
    else if (c === '[') stack.push([x, y, heading]);
    else if (c === ']') [x, y, heading] = stack.pop();
    else if (c === 'F' || c === 'G') {
      const [dx, dy] = [Math.cos((heading * Math.PI) / 180), Math.sin((heading * Math.PI) / 180)];
      for (let i = 0; i < 4; i++) {
        points.push([x, y]);
        [x, y] = [x + dx / 4, y + dy / 4];
      }
    }
  }
  return points;
}

function draw(points, width, height) {
  const [xs, ys] = [points.map((p) => p[0]), points.map((p) => p[1])];
  const [x0, y0] = [Math.min(...xs), Math.min(...ys)];
  const scale = Math.min((width - 1) / (Math.max(...xs) - x0), (2 * (height - 1)) / (Math.max(...ys) - y0));
  const grid = Array.from({ length: height }, () => Array(width).fill(' '));
  for (const [x, y] of points) grid[height - 1 - Math.round(((y - y0) * scale) / 2 + 1e-6)][Math.round((x - x0) * scale + 1e-6)] = '▓';
  return grid.map((row) => row.join('').trimEnd()).join('\n');
}

const SYSTEMS = {
  Koch: ['F', { F: 'F+F--F+F' }, 3, 60],
  Hilbert: ['A', { A: '+BF-AFA-FB+', B: '-AF+BFB+FA-' }, 4, 90],
  Sierpiński: ['F', { F: 'G-F-G', G: 'F+G+F' }, 6, 60],
  plant: ['X', { X: 'F[+X]F[-X]+X', F: 'FF' }, 4, 20],
};
for (const [name, [axiom, rules, n, angle]] of Object.entries(SYSTEMS)) {
  const path = rewrite(axiom, rules, n);
  console.log(`${name}: ${path.length} symbols`);
  console.log(draw(turtle(path, angle, name === 'plant' ? 70 : 0), 64, 20));
}
console.log('algae:', Array.from({ length: 7 }, (_, n) => rewrite('A', { A: 'AB', B: 'A' }, n)).join(' '));
const lengths = Array.from({ length: 20 }, (_, n) => rewrite('A', { A: 'AB', B: 'A' }, n).length);
console.log('lengths are Fibonacci:', lengths.every((v, i) => i < 2 || v === lengths[i - 1] + lengths[i - 2]), lengths.at(-1));
