export const merge = (a, b) => {
  const out = new Map(a);
  for (const [word, n] of b) out.set(word, (out.get(word) ?? 0) + n);
  return out;
};
export const top = (counts, n) => [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, n).map(([w, c]) => `${w}=${c}`);
