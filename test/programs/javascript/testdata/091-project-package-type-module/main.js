// A package of type "module" with import maps of its own.
import { readFileSync } from 'node:fs';
import { mean, median, summary } from '#stats';
import { celsius } from '#units/temperature';

const { name, version } = JSON.parse(readFileSync(new URL('package.json', import.meta.url)));
console.log(name, version);
const stations = new Map();
for (const line of readFileSync(0, 'utf8').trim().split('\n')) {
  const [station, text] = line.split('=');
  if (!stations.has(station)) stations.set(station, []);
  stations.get(station).push(celsius(text));
}
for (const [station, values] of [...stations].sort(([a], [b]) => a.localeCompare(b, 'en'))) console.log(station.padEnd(9), summary(values));
const all = [...stations.values()].flat();
console.log(`all: mean ${mean(all).toFixed(2)}, median ${median(all).toFixed(2)}`);
try {
  celsius('12K?');
} catch (error) {
  console.log(error.message);
}
await Promise.resolve();
console.log('top-level await works');
