const fs = require('node:fs');

exports.Store = class Store {
  #events;
  constructor(path) {
    this.path = path;
    this.#events = fs.existsSync(path) ? fs.readFileSync(path, 'utf8').trim().split('\n').map((l) => JSON.parse(l)) : [];
  }
  append(...events) {
    for (const event of events) {
      const entry = Object.freeze({ n: this.#events.length + 1, ...event });
      this.#events.push(entry);
      fs.appendFileSync(this.path, JSON.stringify(entry) + '\n');
    }
  }
  project({ initial, apply }, until = Infinity) {
    return this.#events.filter((e) => e.n <= until).reduce((state, event) => apply[event.type]?.(state, event) ?? state, initial());
  }
  get length() { return this.#events.length; }
};
