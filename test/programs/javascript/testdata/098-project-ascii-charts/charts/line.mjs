import { Canvas } from './canvas.mjs';

export const sparkline = (values) => values.map((v) => '▁▂▃▄▅▆▇█'[Math.floor((v / (Math.max(...values) + 1)) * 8)]).join('');

export function line(values, height) {
  const canvas = new Canvas(values.length * 3, height);
  const most = Math.max(...values);
  const y = (v) => height - 1 - Math.round((v / most) * (height - 1));
  values.slice(1).forEach((v, i) => canvas.line(3 * i, y(values[i]), 3 * i + 3, y(v), '∙'));
  values.forEach((v, i) => canvas.set(3 * i, y(v), '●'));
  return canvas.toString();
}
