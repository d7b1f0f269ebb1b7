// Sorting algorithms checked against the built-in sort, stability included.
const shell = (items, less) => {
  const a = [...items];
  for (let gap = a.length >> 1; gap > 0; gap >>= 1) {
    for (let i = gap; i < a.length; i++) {
      for (let j = i; j >= gap && less(a[j], a[j - gap]); j -= gap) [a[j], a[j - gap]] = [a[j - gap], a[j]];
    }
  }
  return a;
};

const merge = (items, less) => {
  if (items.length < 2) return items;
  const middle = items.length >> 1;
  const [left, right] = [merge(items.slice(0, middle), less), merge(items.slice(middle), less)];
  const out = [];
  let i = 0, j = 0;
  while (i < left.length && j < right.length) out.push(less(right[j], left[i]) ? right[j++] : left[i++]);
  return out.concat(left.slice(i), right.slice(j));
};

const quick = (items, less) => {
  if (items.length < 2) return items;
  const [pivot, ...rest] = items;
  return [...quick(rest.filter((x) => less(x, pivot)), less), pivot, ...quick(rest.filter((x) => !less(x, pivot)), less)];
};

const heap = (items, less) => {
  const a = [...items];
  const sink = (i, n) => {
    for (let child = 2 * i + 1; child < n; i = child, child = 2 * i + 1) {
      if (child + 1 < n && less(a[child], a[child + 1])) child++;
      if (!less(a[i], a[child])) return;
      [a[i], a[child]] = [a[child], a[i]];
    }
  };
  for (let i = a.length >> 1; i >= 0; i--) sink(i, a.length);
  for (let n = a.length - 1; n > 0; n--) {
    [a[0], a[n]] = [a[n], a[0]];
    sink(0, n);
  }
  return a;
};

let seed = 7;
const random = () => (seed = (seed * 16807) % 2147483647);
const people = Array.from({ length: 60 }, (_, id) => ({ id, age: random() % 40 }));
const less = (a, b) => a.age < b.age;
const expected = [...people].sort((a, b) => a.age - b.age);
for (const sort of [shell, merge, quick, heap]) {
  const result = sort(people, less);
  const sorted = result.every((p, i) => p.age === expected[i].age);
  const stable = result.every((p, i) => p.id === expected[i].id);
  console.log(sort.name.padEnd(6), 'sorted:', sorted, 'stable:', stable);
}
console.log(expected.slice(0, 8).map((p) => `${p.id}@${p.age}`).join(' '));
console.log([10, 9, 1, -2, 100].sort(), [10, 9, 1, -2, 100].sort((a, b) => a - b));
