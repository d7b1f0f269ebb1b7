// Computational geometry: hull, point in polygon, clipping, triangulation, closest pair, Pick.
const cross = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
const area = (p) => p.reduce((s, [x, y], i) => { const [u, v] = p[(i + 1) % p.length]; return s + x * v - u * y; }, 0) / 2;

function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => list.reduce((h, p) => {
    while (h.length > 1 && cross(h.at(-2), h.at(-1), p) <= 0) h.pop();
    return h.push(p), h;
  }, []).slice(0, -1);
  return [...half(sorted), ...half(sorted.reverse())];
}
function contains(polygon, [x, y]) {
  let winding = 0;
  polygon.forEach(([ax, ay], i) => {
    const [bx, by] = polygon[(i + 1) % polygon.length];
    const side = cross([ax, ay], [bx, by], [x, y]);
    if (ay <= y && by > y && side > 0) winding++;
    if (ay > y && by <= y && side < 0) winding--;
  });
  return winding !== 0;
}
function clip(subject, window) {
  return window.reduce((out, a, i) => {
    const b = window[(i + 1) % window.length];
    return out.flatMap((p, j) => {
      const q = out[(j + 1) % out.length];
      const [s, t] = [cross(a, b, p), cross(a, b, q)];
      const meet = () => [p[0] + ((q[0] - p[0]) * s) / (s - t), p[1] + ((q[1] - p[1]) * s) / (s - t)];
      return s >= 0 ? (t >= 0 ? [q] : [meet()]) : t >= 0 ? [meet(), q] : [];
    });
  }, subject);
}
function triangulate(polygon) {
  const left = [...polygon], out = [];
  while (left.length > 3) {
    const i = left.findIndex((p, k) => {
      const [a, b] = [left.at(k - 1), left[(k + 1) % left.length]];
      return cross(a, p, b) > 0 && !left.some((q) => q !== a && q !== p && q !== b && cross(a, p, q) >= 0 && cross(p, b, q) >= 0 && cross(b, a, q) >= 0);
    });
    out.push([left.at(i - 1), left[i], left[(i + 1) % left.length]]);
    left.splice(i, 1);
  }
  return [...out, left];
}
function closest(points) {
  const xs = [...points].sort((a, b) => a[0] - b[0]);
  const dist = (a, b) => Math.hypot(a[0] - b[0], a[1] - b[1]);
  const solve = (p) => {
    if (p.length < 4) return Math.min(...p.flatMap((a, i) => p.slice(i + 1).map((b) => dist(a, b))));
    const m = p.length >> 1, d = Math.min(solve(p.slice(0, m)), solve(p.slice(m)));
    const strip = p.filter((q) => Math.abs(q[0] - p[m][0]) < d).sort((a, b) => a[1] - b[1]);
    return Math.min(d, ...strip.flatMap((a, i) => strip.slice(i + 1, i + 8).map((b) => dist(a, b))));
  };
  return solve(xs);
}

const cloud = Array.from({ length: 400 }, (_, i) => [(i * 7919) % 1000, (i * i * 31 + 17) % 997]);
const outline = hull(cloud);
console.log('hull of', cloud.length, 'points:', outline.length, 'corners, area', area(outline));
console.log('all inside:', cloud.every((p) => outline.every((a, i) => cross(a, outline[(i + 1) % outline.length], p) >= 0)));
console.log('closest pair:', closest(cloud).toFixed(6), closest(cloud) === Math.min(...cloud.flatMap((a, i) => cloud.slice(i + 1).map((b) => Math.hypot(a[0] - b[0], a[1] - b[1])))));
const star = Array.from({ length: 10 }, (_, i) => { const r = i % 2 ? 4 : 10, t = (i * Math.PI) / 5 + 0.1; return [12 + r * Math.cos(t), 11 + r * Math.sin(t)]; });
for (let y = 21; y >= 1; y -= 2) console.log(Array.from({ length: 24 }, (_, x) => (contains(star, [x + 0.01, y]) ? '✦' : ' ')).join('').trimEnd());
const pieces = triangulate(star);
console.log(pieces.length, 'triangles, area', pieces.reduce((s, t) => s + area(t), 0).toFixed(6), area(star).toFixed(6));
console.log('clipped:', area(clip([[0, 0], [8, 0], [8, 8], [0, 8]], [[4, -4], [12, 4], [4, 12], [-4, 4]])), 'Pick:', area([[0, 0], [6, 0], [6, 4], [0, 4]]) - 20 / 2 + 1);
