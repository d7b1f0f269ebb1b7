// A reader for a YAML-like configuration: nesting by indentation, lists, scalars, anchors.
const fs = require('node:fs');

class ConfigError extends Error {
  constructor(line, message) { super(`line ${line}: ${message}`); }
}

function scalar(text) {
  if (/^".*"$/.test(text)) return JSON.parse(text);
  if (/^'.*'$/.test(text)) return text.slice(1, -1).replaceAll("''", "'");
  if (/^[-+]?\d+(_\d+)*$/.test(text)) return Number(text.replaceAll('_', ''));
  if (/^[-+]?\d*\.\d+(e[-+]?\d+)?$/i.test(text)) return Number(text);
  if (/^\[.*\]$/.test(text)) return text.slice(1, -1).split(',').map((t) => scalar(t.trim())).filter((x) => x !== null);
  return { true: true, false: false, null: null, '~': null, '': null }[text] ?? (text in { null: 1, '~': 1, '': 1 } ? null : text);
}

function parse(text) {
  const anchors = new Map();
  const lines = text.split('\n').map((raw, i) => ({ n: i + 1, indent: raw.search(/\S/), text: raw.replace(/(^|\s)#.*$/, '').trim() })).filter((l) => l.text);
  for (const { n, indent } of lines) if (indent % 2) throw new ConfigError(n, `indented by ${indent}`);
  const value = (text, n, indent) => {
    const [, anchor, rest] = /^(?:&(\w+)\s*)?(.*)$/.exec(text);
    let result;
    if (rest.startsWith('*')) {
      if (!anchors.has(rest.slice(1))) throw new ConfigError(n, `unknown alias ${rest}`);
      result = structuredClone(anchors.get(rest.slice(1)));
    } else result = rest === '' && lines[0]?.indent > indent ? block(lines[0].indent) : scalar(rest);
    if (anchor) anchors.set(anchor, result);
    return result;
  };
  const block = (indent) => {
    const isList = lines[0].text.startsWith('- ') || lines[0].text === '-';
    const out = isList ? [] : {};
    while (lines.length && lines[0].indent === indent) {
      const { n, text } = lines.shift();
      if (isList) {
        if (!text.startsWith('-')) throw new ConfigError(n, 'expected a list item');
        out.push(value(text.slice(1).trim(), n, indent));
        continue;
      }
      const match = /^("[^"]+"|[^:]+?):(?:\s+(.*))?$/.exec(text);
      if (!match) throw new ConfigError(n, `expected a key: ${text}`);
      const key = match[1].replace(/^"|"$/g, '');
      if (key in out) throw new ConfigError(n, `duplicate key ${key}`);
      out[key] = value(match[2] ?? '', n, indent);
    }
    if (lines.length && lines[0].indent > indent) throw new ConfigError(lines[0].n, 'unexpected indentation');
    return out;
  };
  return lines.length ? block(0) : null;
}

for (const document of fs.readFileSync(0, 'utf8').split(/^---\n/m)) {
  try {
    console.log(JSON.stringify(parse(document), null, 1).replace(/\n\s*/g, ' '));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    console.log('error:', error.message);
  }
}
