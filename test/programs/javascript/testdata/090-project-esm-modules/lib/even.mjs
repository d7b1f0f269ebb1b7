import { isOdd } from './odd.mjs';
export const isEven = (n) => n === 0 || isOdd(n - 1);
