import { Canvas } from './canvas.mjs';

export function pie(items, height) {
  const total = items.reduce((sum, i) => sum + i.value, 0);
  const canvas = new Canvas(2 * height + 20, height);
  const r = height / 2;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < 2 * height; x++) {
      const [dx, dy] = [(x + 0.5) / 2 - r, y + 0.5 - r];
      if (Math.hypot(dx, dy) > r) continue;
      let share = (Math.atan2(dy, dx) / (2 * Math.PI) + 1.000001) % 1;
      const at = items.findIndex(({ value }) => (share -= value / total) < 0);
      canvas.set(x, y, '░▒▓█'[at]);
    }
  }
  items.forEach(({ name, value }, i) => canvas.text(2 * height + 2, i, `${'░▒▓█'[i]} ${name} ${((value / total) * 100).toFixed(1)}%`));
  return canvas.toString();
}
