// ES modules: named, default and star exports, live bindings, cycles, dynamic import, JSON by URL.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import Counter, { count, VERSION as version } from './lib/counter.mjs';
import * as shapes from './lib/shapes.mjs';
import { isEven } from './lib/even.mjs';

const counter = new Counter();
counter.up().up();
console.log(version, 'live binding:', count);
console.log(Object.keys(shapes), shapes.circle(2).toFixed(4), shapes.default.name);
console.log('mutual recursion:', isEven(10), isEven(7));

const language = process.argv[2] ?? 'en';
const { greet } = await import(`./lib/locale/${language}.mjs`);
console.log(greet('世界 🦀'));
const missing = await import('./lib/nothing.mjs').catch((error) => error.code);
console.log(missing);
const settings = JSON.parse(await readFile(new URL('./settings.json', import.meta.url), 'utf8'));
console.log(settings);
const legacy = createRequire(import.meta.url)('./lib/legacy.cjs');
console.log(legacy.double(21), (await import('./lib/legacy.cjs')).default === legacy, typeof require, this);
try {
  count++;
} catch (error) {
  console.log(error.name);
}
