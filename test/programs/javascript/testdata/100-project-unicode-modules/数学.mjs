export const 阶乘 = (n) => (n < 2n ? 1n : n * 阶乘(n - 1n));

export function* 斐波那契(个数) {
  for (let [a, b] = [0, 1], i = 0; i < 个数; i++, [a, b] = [b, a + b]) yield a;
}
