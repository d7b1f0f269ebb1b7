const EINHEITEN = { m: 1, km: 1000 };

export const länge = (text) => [...text].length;

export class Größe {
  #meter;
  constructor(wert, einheit) {
    if (!(einheit in EINHEITEN)) throw new RangeError(`unbekannte Einheit „${einheit}“`);
    this.#meter = wert * EINHEITEN[einheit];
  }
  toJSON() { return { meter: this.#meter }; }
  toString() { return `${this.#meter} m`; }
}
