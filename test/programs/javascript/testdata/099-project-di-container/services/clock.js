class Clock {
  now() { return new Date(); }
}
class FixedClock extends Clock {
  static needs = ['settings'];
  #time;
  constructor({ settings }) {
    super();
    this.#time = Date.parse(settings.started);
  }
  now() { return new Date((this.#time += 1000)); }
}

module.exports = { Clock, FixedClock };
