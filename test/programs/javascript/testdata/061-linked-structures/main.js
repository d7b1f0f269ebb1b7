// A doubly linked list, a deque on it, cycle detection and list merging.
class Node {
  constructor(value) { [this.value, this.previous, this.next] = [value, null, null]; }
}
class Deque {
  #head = new Node();
  #tail = new Node();
  length = 0;
  constructor(items = []) {
    [this.#head.next, this.#tail.previous] = [this.#tail, this.#head];
    for (const item of items) this.push(item);
  }
  #insert(before, value) {
    const node = Object.assign(new Node(value), { previous: before.previous, next: before });
    before.previous.next = before.previous = node;
    this.length++;
    return this;
  }
  #remove(node) {
    if (node === this.#head || node === this.#tail) throw new RangeError('deque is empty');
    [node.previous.next, node.next.previous] = [node.next, node.previous];
    this.length--;
    return node.value;
  }
  push(value) { return this.#insert(this.#tail, value); }
  unshift(value) { return this.#insert(this.#head.next, value); }
  pop() { return this.#remove(this.#tail.previous); }
  shift() { return this.#remove(this.#head.next); }
  rotate(n) {
    for (; n > 0; n--) this.unshift(this.pop());
    for (; n < 0; n++) this.push(this.shift());
    return this;
  }
  *[Symbol.iterator]() { for (let n = this.#head.next; n !== this.#tail; n = n.next) yield n.value; }
  *backwards() { for (let n = this.#tail.previous; n !== this.#head; n = n.previous) yield n.value; }
}

const deque = new Deque('abcde');
console.log([...deque].join(''), [...deque.rotate(2)].join(''), [...deque.rotate(-3)].join(''), [...deque.backwards()].join(''));
console.log(deque.shift(), deque.pop(), deque.length, [...deque.unshift('🦀').push('ü')].join(''));
try {
  new Deque().pop();
} catch (error) {
  console.log(error.message);
}

const josephus = (n, k) => {
  const circle = new Deque(Array.from({ length: n }, (_, i) => i + 1));
  const out = [];
  while (circle.length) out.push(circle.rotate(1 - k).shift());
  return out;
};
console.log('Josephus:', josephus(12, 3).join(' '), 'last of 41:', josephus(41, 3).at(-1));

const list = (...values) => values.reduceRight((next, value) => ({ value, next }), null);
const toArray = (l) => { const out = []; for (; l; l = l.next) out.push(l.value); return out; };
const mergeLists = (a, b) => (!a ? b : !b ? a : a.value <= b.value ? { value: a.value, next: mergeLists(a.next, b) } : { value: b.value, next: mergeLists(a, b.next) });
const reverse = (l, done = null) => (l ? reverse(l.next, { value: l.value, next: done }) : done);
function cycleStart(head) {
  let [slow, fast] = [head, head];
  do {
    if (!fast?.next) return null;
    [slow, fast] = [slow.next, fast.next.next];
  } while (slow !== fast);
  for (slow = head; slow !== fast; slow = slow.next) fast = fast.next;
  return slow.value;
}
console.log(toArray(mergeLists(list(1, 4, 9), list(2, 3, 10, 11))), toArray(reverse(list(1, 2, 3))));
const ring = list('a', 'b', 'c', 'd');
ring.next.next.next.next = ring.next;
console.log('cycle starts at', cycleStart(ring), cycleStart(list(1, 2)));
