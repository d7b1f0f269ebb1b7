"""The sun and the outer planets under gravity: energy stays, momentum is zero."""
import math

DAYS, SOLAR = 365.24, 4 * math.pi**2


class Body:
    def __init__(self, name, mass, position, velocity):
        self.name, self.mass, self.p, self.v = name, mass * SOLAR, list(position), [v * DAYS for v in velocity]


BODIES = [
    Body("sun", 1, (0, 0, 0), (0, 0, 0)),
    Body("jupiter", 9.55e-4, (4.841, -1.160, -0.1036), (1.660e-3, 7.699e-3, -6.905e-5)),
    Body("saturn", 2.859e-4, (8.343, 4.125, -0.4035), (-2.767e-3, 4.999e-3, 2.304e-5)),
    Body("uranus", 4.366e-5, (12.894, -15.111, -0.2233), (2.965e-3, 2.378e-3, -2.966e-5)),
]
PAIRS = [(a, b) for i, a in enumerate(BODIES) for b in BODIES[i + 1 :]]


def energy():
    kinetic = sum(b.mass * sum(v * v for v in b.v) / 2 for b in BODIES)
    return kinetic - sum(a.mass * b.mass / math.dist(a.p, b.p) for a, b in PAIRS)


def advance(dt):
    for a, b in PAIRS:
        d = [x - y for x, y in zip(a.p, b.p)]
        factor = dt / sum(x * x for x in d) ** 1.5
        for i in range(3):
            a.v[i] -= d[i] * b.mass * factor
            b.v[i] += d[i] * a.mass * factor
    for body in BODIES:
        for i in range(3):
            body.p[i] += dt * body.v[i]


for i in range(3):
    BODIES[0].v[i] = -sum(b.v[i] * b.mass for b in BODIES[1:]) / SOLAR
start = energy()
for step in range(6001):
    if step % 1500 == 0:
        print(f"after {step * 0.01:5.1f} years:", "  ".join(f"{b.name} {math.hypot(*b.p):7.3f}" for b in BODIES[1:]))
    advance(0.01)
print(f"energy {start:.7f}, drift below a thousandth: {abs(energy() / start - 1) < 1e-3}")
