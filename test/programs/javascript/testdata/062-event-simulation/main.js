// A lift in a house of ten floors, simulated tick by tick with seeded passengers.
let seed = 42;
const random = (n) => (seed = (seed * 16807) % 2147483647) % n;

class Lift {
  floor = 0;
  direction = 1;
  inside = [];
  moves = 0;
  stops = [];

  constructor(capacity) { this.capacity = capacity; }

  step(waiting, tick) {
    const leaving = this.inside.filter((p) => p.to === this.floor);
    this.inside = this.inside.filter((p) => p.to !== this.floor);
    for (const p of leaving) p.arrived = tick;
    const boarding = waiting.filter((p) => p.from === this.floor && !p.boarded).slice(0, this.capacity - this.inside.length);
    for (const p of boarding) {
      p.boarded = true;
      this.inside.push(p);
    }
    if (leaving.length || boarding.length) this.stops.push(`${this.floor}${'-'.repeat(leaving.length)}${'+'.repeat(boarding.length)}`);
    const targets = [...this.inside.map((p) => p.to), ...waiting.filter((p) => !p.boarded).map((p) => p.from)].filter((f) => f !== this.floor);
    if (!targets.length) return;
    if (!targets.some((f) => (f - this.floor) * this.direction > 0)) this.direction *= -1;
    this.floor += this.direction;
    this.moves++;
  }
}

function simulate(capacity, count) {
  seed = 42;
  const passengers = Array.from({ length: count }, (_, id) => {
    const from = random(10);
    return { id, from, to: (from + 1 + random(9)) % 10, at: random(60) };
  });
  const lift = new Lift(capacity);
  let tick = 0;
  while (passengers.some((p) => p.arrived === undefined)) lift.step(passengers.filter((p) => p.at <= tick && p.arrived === undefined), ++tick);
  const times = passengers.map((p) => p.arrived - p.at).sort((a, b) => a - b);
  return { lift, tick, mean: times.reduce((a, b) => a + b) / count, median: times[count >> 1], worst: times.at(-1) };
}

for (const capacity of [1, 2, 4, 8]) {
  const { tick, mean, median, worst, lift } = simulate(capacity, 30);
  console.log(`capacity ${capacity}: done at ${tick}, mean ${mean.toFixed(2)}, median ${median}, worst ${worst}, ${lift.moves} moves`);
}
console.log(simulate(4, 8).lift.stops.join(' '));
