// Dynamic programming on two strings: subsequence, substring, distance.
function table(a, b, cell) {
  const t = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = 1; i <= a.length; i++) for (let j = 1; j <= b.length; j++) t[i][j] = cell(t, i, j, a[i - 1] === b[j - 1]);
  return t;
}

function subsequence(a, b) {
  const t = table(a, b, (t, i, j, same) => (same ? t[i - 1][j - 1] + 1 : Math.max(t[i - 1][j], t[i][j - 1])));
  let [i, j, out] = [a.length, b.length, ''];
  while (i && j) {
    if (a[i - 1] === b[j - 1]) [i, j, out] = [i - 1, j - 1, a[i - 1] + out];
    else if (t[i - 1][j] >= t[i][j - 1]) i--;
    else j--;
  }
  return out;
}

function substring(a, b) {
  let best = 0, end = 0;
  table(a, b, (t, i, j, same) => {
    const n = same ? t[i - 1][j - 1] + 1 : 0;
    if (n > best) [best, end] = [n, i];
    return n;
  });
  return a.slice(end - best, end).join('');
}

function damerau(a, b) {
  const t = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => (i ? (j ? 0 : i) : j)));
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      t[i][j] = Math.min(t[i - 1][j] + 1, t[i][j - 1] + 1, t[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) t[i][j] = Math.min(t[i][j], t[i - 2][j - 2] + 1);
    }
  }
  return t[a.length][b.length];
}

const pairs = [['AGGTAB', 'GXTXAYB'], ['the quick brown fox', 'a quack from brownies'], ['你好世界', '世界你好吗'], ['ab🦀cd', 'xb🦀cy'], ['', 'x']];
for (const [left, right] of pairs) {
  const [a, b] = [[...left], [...right]];
  console.log(JSON.stringify([left, right]), JSON.stringify(subsequence(a, b)), JSON.stringify(substring(a, b)), damerau(a, b));
}
console.log('transposed letters count once:', damerau([...'teh'], [...'the']));
