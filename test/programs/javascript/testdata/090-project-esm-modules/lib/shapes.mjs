export const circle = (r) => Math.PI * r * r;
export function square(a) {
  return a * a;
}
export { triangle as three } from './triangle.mjs';
export default function polygon() {}
