class UnknownProduct extends Error {
  get name() { return 'UnknownProduct'; }
}

class Cart {
  #catalogue;
  #lines = new Map();
  constructor(catalogue) { this.#catalogue = catalogue; }
  add(code, pieces = 1) {
    if (!Object.hasOwn(this.#catalogue, code)) throw new UnknownProduct(code);
    if (pieces < 1) throw new RangeError(`${pieces} pieces`);
    this.#lines.set(code, (this.#lines.get(code) ?? 0) + pieces);
    return this;
  }
  *[Symbol.iterator]() {
    for (const [code, pieces] of this.#lines) yield { code, pieces, ...this.#catalogue[code] };
  }
  get total() { return [...this].reduce((sum, { pieces, cents }) => sum + pieces * cents, 0); }
}

exports.Cart = Cart;
exports.UnknownProduct = UnknownProduct;
