// A Julia set in Braille dots, a Mandelbrot area and a Newton fractal.
function braille(width, height, dark) {
  const bits = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];
  const lines = [];
  for (let y = 0; y < height; y += 4) {
    let line = '';
    for (let x = 0; x < width; x += 2) {
      let cell = 0;
      for (let j = 0; j < 4; j++) for (let i = 0; i < 2; i++) if (dark(x + i, y + j)) cell |= bits[j][i];
      line += String.fromCodePoint(0x2800 + cell);
    }
    lines.push(line);
  }
  return lines.join('\n');
}

function escape(zx, zy, cx, cy, limit) {
  let n = 0;
  for (; n < limit && zx * zx + zy * zy < 4; n++) [zx, zy] = [zx * zx - zy * zy + cx, 2 * zx * zy + cy];
  return n;
}

console.log(braille(120, 72, (x, y) => escape(((x - 60) / 60) * 1.6, ((y - 36) / 36) * 1.1, -0.7, 0.27015, 60) > 22));

let inside = 0;
const N = 300;
for (let i = 0; i < N; i++) for (let j = 0; j < N; j++) if (escape(0, 0, -2 + (2.5 * (i + 0.5)) / N, (1.25 * (j + 0.5)) / N, 200) === 200) inside++;
console.log('Mandelbrot area ≈', ((2 * inside * 2.5 * 1.25) / (N * N)).toFixed(3));

const basin = (x, y) => {
  for (let k = 0; k < 40; k++) {
    const [x2, y2] = [x * x - y * y, 2 * x * y];
    const d = 3 * (x2 * x2 + y2 * y2);
    const [fx, fy] = [x2 * x - y2 * y - 1, x2 * y + y2 * x];
    [x, y] = [x - (3 * (fx * x2 + fy * y2)) / d / 1, y - (3 * (fy * x2 - fx * y2)) / d];
  }
  return x > 0.5 ? '░' : y > 0 ? '▒' : '█';
};
for (let r = 0; r < 16; r++) console.log(Array.from({ length: 48 }, (_, c) => basin((c - 23.7) / 16, (7.6 - r) / 8)).join(''));
