// A small Markdown renderer over standard input: blocks, lists, emphasis, code, links, tables.
const escape = (s) => s.replace(/[&<>]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[c]);

function inline(text) {
  const code = [];
  return escape(text)
    .replace(/`([^`]+)`/g, (_, c) => `\0${code.push(c) - 1}\0`)
    .replace(/!\[([^\]]*)\]\(([^)\s]+)\)/g, '<img alt="$1" src="$2">')
    .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>')
    .replace(/\*\*(.+?)\*\*/g, '<strong>$1</strong>')
    .replace(/(?<![\w*])[*_](?!\s)(.+?)(?<!\s)[*_](?!\w)/g, '<em>$1</em>')
    .replace(/~~(.+?)~~/g, '<del>$1</del>')
    .replace(/\0(\d+)\0/g, (_, i) => `<code>${code[i]}</code>`);
}

function render(text) {
  const lines = text.split('\n');
  const out = [];
  const takeWhile = (test) => {
    const taken = [];
    while (lines.length && test(lines[0])) taken.push(lines.shift());
    return taken;
  };
  const list = (indent) => {
    const items = [];
    const tag = /^\s*\d+\./.test(lines[0]) ? 'ol' : 'ul';
    while (lines.length) {
      const match = /^(\s*)(?:[-*]|\d+\.) (.*)$/.exec(lines[0]);
      if (!match || match[1].length < indent) break;
      if (match[1].length > indent) items[items.length - 1] += list(match[1].length);
      else {
        lines.shift();
        items.push(inline(match[2]));
      }
    }
    return `<${tag}>${items.map((i) => `<li>${i}</li>`).join('')}</${tag}>`;
  };
  const row = (line, tag) => `<tr>${line.replace(/^\||\|$/g, '').split('|').map((c) => `<${tag}>${inline(c.trim())}</${tag}>`).join('')}</tr>`;
  while (lines.length) {
    const line = lines[0];
    let match;
    if (!line.trim()) lines.shift();
    else if ((match = /^(#{1,6}) (.*)$/.exec(line))) (lines.shift(), out.push(`<h${match[1].length}>${inline(match[2])}</h${match[1].length}>`));
    else if ((match = /^```(\w*)$/.exec(line))) {
      lines.shift();
      out.push(`<pre lang="${match[1]}">${escape(takeWhile((l) => l !== '```').join('\n'))}</pre>`);
      lines.shift();
    } else if (/^> ?/.test(line)) out.push(`<blockquote>${render(takeWhile((l) => /^>/.test(l)).map((l) => l.replace(/^> ?/, '')).join('\n'))}</blockquote>`);
    else if (/^([-*] |\d+\. )/.test(line)) out.push(list(0));
    else if (/^-{3,}$/.test(line)) (lines.shift(), out.push('<hr>'));
    else if (/^\|/.test(line) && /^[|:\- ]+$/.test(lines[1] ?? '')) {
      const [head, , ...body] = takeWhile((l) => /^\|/.test(l));
      out.push(`<table>${row(head, 'th')}${body.map((l) => row(l, 'td')).join('')}</table>`);
    } else out.push(`<p>${inline(takeWhile((l) => l.trim() && !/^(#|>|```|[-*] )/.test(l)).join(' '))}</p>`);
  }
  return out.join('\n');
}

console.log(render(require('node:fs').readFileSync(0, 'utf8')));
