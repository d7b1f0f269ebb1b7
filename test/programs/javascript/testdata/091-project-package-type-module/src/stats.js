export const mean = (a) => a.reduce((x, y) => x + y, 0) / a.length;
export const median = (a) => {
  const s = [...a].sort((x, y) => x - y);
  return (s[(s.length - 1) >> 1] + s[s.length >> 1]) / 2;
};
export const summary = (a) => `${Math.min(...a).toFixed(1)} ≤ ${mean(a).toFixed(1)} ≤ ${Math.max(...a).toFixed(1)} (${a.length})`;
