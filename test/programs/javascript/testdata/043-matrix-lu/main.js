// LU decomposition with pivots over floats: determinant, systems, inverse, eigenvalue.
const format = (rows) => rows.map((row) => row.map((x) => (Math.abs(x) < 5e-10 ? 0 : x).toFixed(4).padStart(9)).join(' ')).join('\n');
const multiply = (a, b) => a.map((row) => b[0].map((_, j) => row.reduce((s, x, k) => s + x * b[k][j], 0)));
const identity = (n) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));

function lu(matrix) {
  const a = matrix.map((row) => [...row]);
  const order = a.map((_, i) => i);
  let sign = 1;
  for (let k = 0; k < a.length; k++) {
    let p = k;
    for (let i = k + 1; i < a.length; i++) if (Math.abs(a[i][k]) > Math.abs(a[p][k])) p = i;
    if (Math.abs(a[p][k]) < 1e-12) throw new RangeError('matrix is singular');
    if (p !== k) {
      [a[p], a[k], order[p], order[k]] = [a[k], a[p], order[k], order[p]];
      sign = -sign;
    }
    for (let i = k + 1; i < a.length; i++) {
      a[i][k] /= a[k][k];
      for (let j = k + 1; j < a.length; j++) a[i][j] -= a[i][k] * a[k][j];
    }
  }
  return { a, order, determinant: a.reduce((d, row, i) => d * row[i], sign) };
}

function solve({ a, order }, b) {
  const x = order.map((i) => b[i]);
  for (let i = 0; i < x.length; i++) for (let j = 0; j < i; j++) x[i] -= a[i][j] * x[j];
  for (let i = x.length - 1; i >= 0; i--) {
    for (let j = i + 1; j < x.length; j++) x[i] -= a[i][j] * x[j];
    x[i] /= a[i][i];
  }
  return x;
}

const transpose = (m) => m[0].map((_, j) => m.map((row) => row[j]));
const m = [[0, 2, 1, 3], [4, 1, -1, 2], [2, 3, 5, -1], [1, -2, 2, 4]];
const decomposed = lu(m);
const inverse = transpose(identity(4).map((unit) => solve(decomposed, unit)));
console.log('determinant', decomposed.determinant.toFixed(6));
console.log(format(inverse));
console.log('product\n' + format(multiply(m, inverse)));
console.log('x =', solve(decomposed, [1, 2, 3, 4]).map((x) => x.toFixed(6)).join(' '));
try {
  lu([[1, 2], [2, 4]]);
} catch (error) {
  console.log(error.message);
}

let vector = [[1], [1], [1]];
const symmetric = [[2, -1, 0], [-1, 2, -1], [0, -1, 2]];
let value;
for (let i = 0; i < 100; i++) {
  vector = multiply(symmetric, vector);
  value = Math.hypot(...vector.flat());
  vector = vector.map(([x]) => [x / value]);
}
console.log('largest eigenvalue', value.toFixed(8), 'is 2+√2:', Math.abs(value - 2 - Math.SQRT2) < 1e-9);
