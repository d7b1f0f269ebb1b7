const { describe, it, beforeEach } = require('../framework/runner');
const { expect } = require('../framework/expect');
const Stack = require('../src/stack');

describe('stack', () => {
  let stack;
  beforeEach(() => {
    stack = new Stack().push(1).push(2);
  });
  it('takes the last one first', () => expect(stack.pop()).toEqual(2));
  it('starts afresh', () => expect(stack.items).toEqual([1, 2]));
  it('throws when empty', () => expect(() => new Stack().pop()).toThrow(RangeError));
  it('is wrong on purpose', () => expect(stack.items).toContain(3));
  it.skip('comes later');
});
