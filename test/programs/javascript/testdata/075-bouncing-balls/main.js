// Bouncing balls and a pendulum: fixed time steps, energy accounting, a drawn path.
class Vector {
  constructor(x, y) { [this.x, this.y] = [x, y]; }
  plus(o, k = 1) { return new Vector(this.x + k * o.x, this.y + k * o.y); }
  times(k) { return new Vector(this.x * k, this.y * k); }
  dot(o) { return this.x * o.x + this.y * o.y; }
  get length() { return Math.sqrt(this.dot(this)); }
}

class Ball {
  constructor(x, y, vx, vy, mass) {
    [this.at, this.speed, this.mass, this.radius] = [new Vector(x, y), new Vector(vx, vy), mass, Math.cbrt(mass)];
  }
  get energy() { return (this.mass * this.speed.dot(this.speed)) / 2; }
}

function collide(a, b) {
  const between = b.at.plus(a.at, -1), distance = between.length;
  if (distance >= a.radius + b.radius) return false;
  const normal = between.times(1 / distance);
  const approach = a.speed.plus(b.speed, -1).dot(normal);
  if (approach <= 0) return false;
  const impulse = (2 * approach) / (1 / a.mass + 1 / b.mass);
  a.speed = a.speed.plus(normal, -impulse / a.mass);
  b.speed = b.speed.plus(normal, impulse / b.mass);
  return true;
}

const balls = [new Ball(10, 10, 6, 2, 1), new Ball(40, 12, -5, 1, 8), new Ball(25, 25, 0, -7, 1), new Ball(12, 28, 3, 3, 27)];
const total = () => balls.reduce((s, b) => s + b.energy, 0);
const start = total();
let hits = 0, bounces = 0;
const trace = new Set();
for (let step = 0; step < 4000; step++) {
  for (const ball of balls) {
    ball.at = ball.at.plus(ball.speed, 0.01);
    for (const [axis, size] of [['x', 50], ['y', 40]]) {
      const low = ball.at[axis] < ball.radius && ball.speed[axis] < 0, high = ball.at[axis] > size - ball.radius && ball.speed[axis] > 0;
      if (low || high) {
        ball.speed[axis] *= -1;
        bounces++;
      }
    }
  }
  for (let i = 0; i < balls.length; i++) for (let j = i + 1; j < balls.length; j++) if (collide(balls[i], balls[j])) hits++;
  trace.add(`${Math.floor(balls[3].at.x)},${Math.floor(balls[3].at.y / 2)}`);
}
for (let y = 19; y >= 0; y--) console.log(Array.from({ length: 50 }, (_, x) => (trace.has(`${x},${y}`) ? '•' : ' ')).join('').trimEnd());
console.log(`${hits} hits, ${bounces} bounces, energy kept: ${Math.abs(total() / start - 1) < 1e-9}`);

let [angle, velocity] = [1, 0], period = 0, crossings = 0;
for (let t = 0; crossings < 3; t += 0.001) {
  const before = angle;
  velocity -= 9.81 * Math.sin(angle) * 0.001;
  angle += velocity * 0.001;
  if (before > 0 !== angle > 0 && ++crossings !== 2) period = t - period;
}
console.log('pendulum of 1 m at 1 rad:', period.toFixed(2), 's');
