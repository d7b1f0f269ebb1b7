// Loads every plugin of a folder, orders them by dependency and lets text run through.
const fs = require('node:fs');
const path = require('node:path');

const folder = path.join(__dirname, 'plugins');
const plugins = fs.readdirSync(folder).filter((f) => f.endsWith('.js')).sort().map((f) => require(path.join(folder, f)));

const ordered = [];
const place = (plugin) => {
  if (ordered.includes(plugin)) return;
  for (const name of plugin.after ?? []) place(plugins.find((p) => p.name === name));
  ordered.push(plugin);
};
plugins.forEach(place);
console.log('order:', ordered.map((p) => p.name).join(' → '));

const context = { notes: [] };
let text = fs.readFileSync(0, 'utf8');
for (const { name, apply } of ordered) {
  text = apply(text, context) ?? text;
  context.notes.push(`${name}: ${[...text].length}`);
}
process.stdout.write(text);
console.log(context);
