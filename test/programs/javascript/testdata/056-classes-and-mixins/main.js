// Classes: private members, statics, accessors, inheritance of built-ins, mixins, abstract ones.
class Shape {
  static #made = 0;
  static get made() { return Shape.#made; }
  constructor() {
    if (new.target === Shape) throw new TypeError('Shape is abstract');
    Shape.#made++;
  }
  toString() { return `${this.constructor.name}(${this.area().toFixed(3)})`; }
}
const Named = (Base) => class extends Base {
  #name = 'unnamed';
  get name() { return this.#name; }
  set name(value) {
    if (!value.trim()) throw new RangeError('a name cannot be blank');
    this.#name = value;
  }
};
const Comparable = (Base) => class extends Base {
  compare(other) { return Math.sign(this.area() - other.area()); }
};

class Circle extends Named(Comparable(Shape)) {
  #radius;
  constructor(radius) {
    super();
    this.#radius = radius;
  }
  area() { return Math.PI * this.#radius ** 2; }
  static unit = new Circle(1);
  static isCircle(x) { return typeof x === 'object' && x !== null && #radius in x; }
}
class Square extends Comparable(Shape) {
  constructor(side) { super(); this.side = side; }
  area() { return this.side ** 2; }
}

class Stack extends Array {
  peek() { return this.at(-1); }
  static get [Symbol.species]() { return Array; }
}
class DefaultMap extends Map {
  constructor(make) { super(); this.make = make; }
  get(key) {
    if (!this.has(key)) this.set(key, this.make());
    return super.get(key);
  }
}

const circle = new Circle(2);
circle.name = 'kræs ⭕';
console.log(`${circle} ${circle.name} ${Circle.unit} ${Circle.unit.name}`);
console.log(circle.compare(new Square(4)), circle.compare(new Square(3)), Shape.made, Circle.isCircle(circle), Circle.isCircle({}));
for (const action of [() => new Shape(), () => (circle.name = ' '), () => Circle(1), () => Circle.prototype.area.call({})]) {
  try {
    action();
  } catch (error) {
    console.log(error.name, error.message.slice(0, 40));
  }
}
const stack = Stack.from([1, 2, 3]);
console.log(stack.peek(), stack instanceof Stack, stack.map((x) => x) instanceof Stack, stack.length);
const index = new DefaultMap(() => []);
for (const word of ['eins', 'zwei', 'elf', 'zehn']) index.get(word[0]).push(word);
console.log(index.size, index.get('e'), Object.getOwnPropertyNames(Circle.prototype));
const frozen = Object.freeze({ a: { b: 1 }, get c() { return this.a.b; } });
frozen.a.b = 2;
console.log(frozen.c, Object.isFrozen(frozen), Object.entries(Object.getOwnPropertyDescriptors({ get x() { return 1; } }))[0][1].set);
