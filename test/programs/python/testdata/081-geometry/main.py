"""Points, segments, polygons and circles: who meets whom and where."""
from __future__ import annotations

import math
from typing import NamedTuple


class Vec(NamedTuple):
    x: float
    y: float

    def __sub__(self, other: Vec) -> Vec:
        return Vec(self.x - other.x, self.y - other.y)

    def __add__(self, other: Vec) -> Vec:
        return Vec(self.x + other.x, self.y + other.y)

    def __mul__(self, k: float) -> Vec:
        return Vec(self.x * k, self.y * k)

    def cross(self, other: Vec) -> float:
        return self.x * other.y - self.y * other.x

    def __str__(self) -> str:
        return f"({self.x:.3f}, {self.y:.3f})"


def meet(a: Vec, b: Vec, c: Vec, d: Vec):
    """Where the segments ab and cd cross, or None."""
    r, s = b - a, d - c
    span = r.cross(s)
    if span == 0:
        return None
    t, u = (c - a).cross(s) / span, (c - a).cross(r) / span
    return a + r * t if 0 <= t <= 1 and 0 <= u <= 1 else None


def inside(point, polygon):
    hits = False
    for a, b in zip(polygon, polygon[1:] + polygon[:1]):
        if (a.y > point.y) != (b.y > point.y) and point.x < (b.x - a.x) * (point.y - a.y) / (b.y - a.y) + a.x:
            hits = not hits
    return hits


def circumcircle(a, b, c):
    b, c = b - a, c - a
    d = 2 * b.cross(c)
    bb, cc = b.x**2 + b.y**2, c.x**2 + c.y**2
    centre = Vec((c.y * bb - b.y * cc) / d, (b.x * cc - c.x * bb) / d)
    return a + centre, math.hypot(*centre)


def closest(points):
    """The closest pair by a sweep over x."""
    ordered, best = sorted(points), (math.inf,)
    for i, p in enumerate(ordered):
        for q in ordered[i + 1 :]:
            if q.x - p.x > best[0]:
                break
            best = min(best, (math.dist(p, q), p, q))
    return best


star = [Vec(math.sin(k * 2.4 * math.pi / 3) * 5, math.cos(k * 2.4 * math.pi / 3) * 5) for k in range(5)]
print("star:", *star)
print("crossing:", meet(Vec(0, 0), Vec(4, 4), Vec(0, 4), Vec(4, 0)), meet(Vec(0, 0), Vec(1, 1), Vec(0, 1), Vec(1, 2)))
arrow = [Vec(0, 0), Vec(4, 2), Vec(0, 4), Vec(1, 2)]
for y in range(4, -1, -1):
    print("".join("#" if inside(Vec(x / 2 + 0.01, y + 0.01), arrow) else "." for x in range(10)))
centre, radius = circumcircle(Vec(0, 0), Vec(6, 0), Vec(0, 8))
print("circumcircle:", centre, radius)
points = [Vec((i * 7919) % 1009, (i * 104729) % 997) for i in range(200)]
distance, p, q = closest(points)
print(f"closest: {p} {q} at {distance:.4f}")
