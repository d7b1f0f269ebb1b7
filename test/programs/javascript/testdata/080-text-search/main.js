// Boyer-Moore-Horspool, Z function, Aho-Corasick, suffix array, an inverted index with ranks.
function horspool(text, pattern) {
  const shift = new Map([...pattern].slice(0, -1).map((c, i) => [c, pattern.length - 1 - i]));
  const found = [];
  for (let i = 0; i + pattern.length <= text.length; i += shift.get(text[i + pattern.length - 1]) ?? pattern.length) if (text.startsWith(pattern, i)) found.push(i);
  return found;
}
function zSearch(text, pattern) {
  const s = `${pattern}\0${text}`, z = Array(s.length).fill(0), found = [];
  for (let i = 1, l = 0, r = 0; i < s.length; i++) {
    if (i < r) z[i] = Math.min(r - i, z[i - l]);
    while (s[z[i]] === s[i + z[i]]) z[i]++;
    if (i + z[i] > r) [l, r] = [i, i + z[i]];
    if (z[i] === pattern.length) found.push(i - pattern.length - 1);
  }
  return found;
}
function ahoCorasick(patterns) {
  const nodes = [{ next: new Map(), fail: 0, out: [] }];
  for (const pattern of patterns) {
    let at = 0;
    for (const c of pattern) {
      if (!nodes[at].next.has(c)) nodes[at].next.set(c, nodes.push({ next: new Map(), fail: 0, out: [] }) - 1);
      at = nodes[at].next.get(c);
    }
    nodes[at].out.push(pattern);
  }
  const queue = [...nodes[0].next.values()];
  for (const at of queue) {
    for (const [c, child] of nodes[at].next) {
      let f = nodes[at].fail;
      while (f && !nodes[f].next.has(c)) f = nodes[f].fail;
      nodes[child].fail = nodes[f].next.get(c) ?? 0;
      nodes[child].out.push(...nodes[nodes[child].fail].out);
      queue.push(child);
    }
  }
  return (text) => {
    const found = [];
    let at = 0;
    [...text].forEach((c, i) => {
      while (at && !nodes[at].next.has(c)) at = nodes[at].fail;
      at = nodes[at].next.get(c) ?? 0;
      for (const p of nodes[at].out) found.push(`${p}@${i + 1 - [...p].length}`);
    });
    return found;
  };
}

const text = 'she sells seashells; the shells she sells are 贝壳贝壳贝';
for (const pattern of ['she', 'sells', '贝壳贝', 'l', 'zebra']) {
  const [a, b] = [horspool(text, pattern), zSearch(text, pattern)];
  console.log(pattern.padEnd(6), a.join(','), a.join() === b.join());
}
console.log(ahoCorasick(['he', 'she', 'his', 'hers', '🦀'])('ushers 🦀 his').join(' '));
const array = [...'mississippi'].map((_, i) => i).sort((a, b) => ('mississippi'.slice(a) < 'mississippi'.slice(b) ? -1 : 1));
const bwt = array.map((i) => 'mississippi$'[(i + 11) % 12] ?? '').join('');
console.log(array.join(' '), bwt.length);

const documents = ['The crab walks sideways', 'A crab and a lobster walk', 'Lobster soup with crab, crab and more crab', 'no sea food here'];
const index = new Map();
documents.forEach((d, id) => {
  for (const word of d.toLowerCase().match(/\p{L}+/gu)) {
    const postings = index.get(word) ?? index.set(word, new Map()).get(word);
    postings.set(id, (postings.get(id) ?? 0) + 1);
  }
});
const query = (...words) => {
  const scores = documents.map((d, id) => words.reduce((s, w) => s + ((index.get(w)?.get(id) ?? 0) / d.split(' ').length) * Math.log(1 + documents.length / (index.get(w)?.size ?? 1)), 0));
  return scores.map((s, id) => [id, s]).filter(([, s]) => s > 0).sort((a, b) => b[1] - a[1]).map(([id, s]) => `#${id} ${s.toFixed(3)}`);
};
console.log(query('crab', 'lobster').join(' | '), '|', query('walks').join(), query('nothing').length);
