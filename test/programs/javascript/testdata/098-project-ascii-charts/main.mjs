// Charts of characters from modules that share a canvas; data by arguments.
import { Canvas } from './charts/canvas.mjs';
import { bars, line, pie, sparkline } from './charts/index.mjs';

const data = process.argv.slice(2).map((argument) => {
  const [name, values] = argument.split('=');
  return { name, values: values.split(',').map(Number) };
});
for (const { name, values } of data) console.log(name.padEnd(7), sparkline(values));
console.log(bars(data.map(({ name, values }) => ({ name, value: values.reduce((a, b) => a + b) })), 40));
console.log(line(data[0].values, 10));
console.log(pie(data.map(({ name, values }) => ({ name, value: values.reduce((a, b) => a + b) })), 9));
const canvas = new Canvas(20, 5, '·');
canvas.line(0, 0, 19, 4, '╲').line(19, 0, 0, 4, '╱').text(6, 2, ' 中 é 🦀 ');
console.log(canvas.toString());
