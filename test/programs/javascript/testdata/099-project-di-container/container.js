class Container {
  #entries = new Map();
  #open = [];

  register(name, type, { single = false } = {}) {
    this.#entries.set(name, { type, single });
    return this;
  }
  value(name, instance) {
    this.#entries.set(name, { instance, single: true });
    return this;
  }
  get(name) {
    const entry = this.#entries.get(name);
    if (!entry) throw new Error(`nothing is called ${name}`);
    if (entry.instance) return entry.instance;
    if (this.#open.includes(name)) throw new Error(`cycle: ${[...this.#open, name].join(' → ')}`);
    this.#open.push(name);
    try {
      const needs = Object.fromEntries((entry.type.needs ?? []).map((n) => [n, this.get(n)]));
      const instance = new entry.type(needs);
      if (entry.single) entry.instance = instance;
      return instance;
    } finally {
      this.#open.pop();
    }
  }
}

module.exports = { Container };
