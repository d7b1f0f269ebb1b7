exports.Users = class Users {
  #byName = new Map();
  async add(user) {
    if (this.#byName.has(user.name)) throw new Error(`${user.name} is taken`);
    this.#byName.set(user.name, Object.freeze({ ...user, id: this.#byName.size + 1 }));
    return this.#byName.get(user.name);
  }
};
