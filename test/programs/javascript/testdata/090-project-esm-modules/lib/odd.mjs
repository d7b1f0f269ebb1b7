import { isEven } from './even.mjs';
export const isOdd = (n) => n !== 0 && isEven(n - 1);
