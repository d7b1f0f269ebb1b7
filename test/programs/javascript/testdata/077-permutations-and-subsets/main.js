// Combinatorics: permutations, subsets, partitions, Gray walks, de Bruijn, Catalan objects.
function* permutations(items) {
  if (items.length < 2) return yield items;
  for (const [i, head] of items.entries()) for (const rest of permutations(items.toSpliced?.(i, 1) ?? [...items.slice(0, i), ...items.slice(i + 1)])) yield [head, ...rest];
}
function* combinations(items, k, start = 0, chosen = []) {
  if (chosen.length === k) return yield chosen;
  for (let i = start; i < items.length; i++) yield* combinations(items, k, i + 1, [...chosen, items[i]]);
}
function* partitions(n, max = n) {
  if (n === 0) return yield [];
  for (let k = Math.min(n, max); k > 0; k--) for (const rest of partitions(n - k, k)) yield [k, ...rest];
}
function* setPartitions([first, ...rest]) {
  if (first === undefined) return yield [];
  for (const p of setPartitions(rest)) {
    yield [[first], ...p];
    for (let i = 0; i < p.length; i++) yield p.map((g, j) => (i === j ? [first, ...g] : g));
  }
}
function* parentheses(open, close = open, text = '') {
  if (!open && !close) return yield text;
  if (open) yield* parentheses(open - 1, close, text + '(');
  if (close > open) yield* parentheses(open, close - 1, text + ')');
}
function deBruijn(k, n) {
  const a = Array(n + 1).fill(0), out = [];
  const extend = (t, p) => {
    if (t > n) {
      if (n % p === 0) out.push(...a.slice(1, p + 1));
      return;
    }
    a[t] = a[t - p];
    extend(t + 1, p);
    for (let j = a[t - p] + 1; j < k; j++) {
      a[t] = j;
      extend(t + 1, t);
    }
  };
  extend(1, 1);
  return out.join('');
}
function nextPermutation(a) {
  let i = a.length - 2;
  while (i >= 0 && a[i] >= a[i + 1]) i--;
  if (i < 0) return false;
  let j = a.length - 1;
  while (a[j] <= a[i]) j--;
  [a[i], a[j]] = [a[j], a[i]];
  a.push(...a.splice(i + 1).reverse());
  return true;
}

console.log([...permutations(['ä', 'b', '🦀'])].map((p) => p.join('')).join(' '));
console.log([...combinations('abcde'.split(''), 3)].map((c) => c.join('')).join(' '));
console.log([...partitions(6)].map((p) => p.join('+')).join('  '));
console.log([...setPartitions(['1', '2', '3', '4'])].length, 'set partitions of four; of three:', [...setPartitions(['a', 'b', 'c'])].map((p) => p.map((g) => g.join('')).join('|')).join('  '));
console.log([...parentheses(3)].join(' '), [...parentheses(8)].length);
console.log(deBruijn(2, 4), deBruijn(10, 2).length);
const multiset = [...'aabb'];
const words = [];
do words.push(multiset.join('')); while (nextPermutation(multiset));
console.log(words.join(' '));
const derangements = [...permutations([0, 1, 2, 3, 4, 5])].filter((p) => p.every((x, i) => x !== i)).length;
console.log('derangements of six:', derangements, 'permutations of eight:', [...permutations([...'abcdefgh'])].length);
