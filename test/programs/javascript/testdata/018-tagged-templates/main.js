// Template literals and tags: escaping, dedent, a formatter, a small report.
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const html = (parts, ...values) => parts.reduce((out, part, i) => out + (Array.isArray(values[i - 1]) ? values[i - 1].join('') : escape(values[i - 1])) + part);

function dedent(parts, ...values) {
  const text = String.raw({ raw: parts }, ...values).replace(/^\n|\n\s*$/g, '');
  const indent = Math.min(...text.split('\n').filter((l) => l.trim()).map((l) => l.match(/^ */)[0].length));
  return text.split('\n').map((l) => l.slice(indent)).join('\n');
}

const fmt = (parts, ...values) =>
  parts.reduce((out, part, i) => {
    const [, width, digits, rest] = /^(?::(-?\d+)?(?:\.(\d+))?)?([^]*)$/.exec(part);
    let text = digits === undefined ? String(values[i - 1]) : values[i - 1].toFixed(Number(digits));
    text = width?.startsWith('-') ? text.padEnd(-width) : text.padStart(width ?? 0);
    return out + text + rest;
  });

const items = [['Brötchen', 0.6, 4], ['Käse <mild>', 12.345, 1], ['寿司', 8, 10]];
for (const [name, price, pieces] of items) console.log(fmt`|${name}:-14|${price}:9.2|${pieces}:5|`);
console.log(html`<ul class="${'a"b'}">${items.map(([name]) => html`<li>${name}</li>`)}</ul>`);
console.log(dedent`
    SELECT *
      FROM ${'table'}
    WHERE x = ${1 + 1}
`);
console.log(String.raw`no\nescape ${'but'} values`, `nested ${`inner ${1 + 1}`} 🦀`.length);
const show = (parts, ...v) => `${parts.length} parts, ${v.length} values, raw ${JSON.stringify(parts.raw)}`;
console.log(show`a${1}\t${2}`);
console.log('ab'.padStart(5, '·'), 'abc'.at(-1), 'x'.repeat(3), ' trim '.trim(), 'a-b-c'.replaceAll('-', '+'), 'é'.normalize('NFD').length);
