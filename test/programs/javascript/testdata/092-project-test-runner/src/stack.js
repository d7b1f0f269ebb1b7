module.exports = class Stack {
  #items = [];
  push(item) { this.#items.push(item); return this; }
  pop() {
    if (!this.#items.length) throw new RangeError('empty');
    return this.#items.pop();
  }
  get items() { return [...this.#items]; }
};
