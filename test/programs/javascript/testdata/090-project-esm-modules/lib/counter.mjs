export let count = 0;
export const VERSION = '2.1.0';
export default class Counter {
  up() {
    count += 1;
    return this;
  }
}
