// A CSV reader (quotes, line breaks in fields), aggregation and an aligned table.
const fs = require('node:fs');

function parseCsv(text) {
  const rows = [[]];
  let field = '', quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') field += text[++i];
      else if (c === '"') quoted = false;
      else field += c;
    } else if (c === '"') quoted = true;
    else if (c === ',' || c === '\n') {
      rows.at(-1).push(field);
      field = '';
      if (c === '\n') rows.push([]);
    } else if (c !== '\r') field += c;
  }
  rows.pop();
  const [head, ...body] = rows;
  return body.map((row) => Object.fromEntries(head.map((name, i) => [name, row[i]])));
}

const quote = (value) => (/[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const rows = parseCsv(fs.readFileSync(0, 'utf8'));
console.log(rows[1]);

const totals = new Map();
for (const { city, hours } of rows) totals.set(city, (totals.get(city) ?? 0) + Number(hours));
const width = Math.max(...[...totals.keys()].map((c) => c.length));
for (const [city, hours] of [...totals].sort((a, b) => b[1] - a[1])) console.log(city.padEnd(width), hours.toFixed(2).padStart(8));

const out = [['city', 'names'], ...[...totals.keys()].map((city) => [city, rows.filter((r) => r.city === city).map((r) => r.name).join('; ')])];
fs.writeFileSync('cities.csv', out.map((row) => row.map(quote).join(',')).join('\r\n') + '\r\n');
const again = parseCsv(fs.readFileSync('cities.csv', 'utf8'));
console.log(again.length === totals.size, JSON.stringify(again[0]));
console.table(rows.map(({ name, hours }) => ({ name: name.replace('\n', '⏎'), hours: Number(hours) })));
