// Modules, names and files beyond ASCII.
import { länge, Größe } from './größe.mjs';
import { 阶乘, 斐波那契 } from './数学.mjs';
import fs from 'node:fs';

const { straße, π } = { straße: new Größe(5, 'km'), π: Math.PI };
console.log(`${straße}`, länge('héllo 你好 🦀'), π.toFixed(5));
console.log(阶乘(20n), [...斐波那契(12)].join(' '));
fs.writeFileSync('結果🦀.json', JSON.stringify({ 名前: 'Größe', straße }));
console.log(fs.readFileSync('結果🦀.json', 'utf8'), fs.readdirSync('.').filter((f) => /[^\x00-\x7f]/.test(f)).sort());
const { default: geheim } = await import('./geheim é.mjs');
console.log(geheim.ключ, Object.keys(geheim));
try {
  new Größe(1, 'Ål');
} catch ({ name, message }) {
  console.log(name, message);
}
console.log(new URL('./größe.mjs', import.meta.url).href.endsWith('gr%C3%B6%C3%9Fe.mjs'));
