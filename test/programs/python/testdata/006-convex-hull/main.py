"""Convex hull by the monotone chain, its area and its perimeter."""
import math
import random


def cross(o, a, b):
    return (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])


def half(points):
    chain = []
    for point in points:
        while len(chain) > 1 and cross(chain[-2], chain[-1], point) <= 0:
            chain.pop()
        chain.append(point)
    return chain[:-1]


def hull(points):
    ordered = sorted(set(points))
    return half(ordered) + half(ordered[::-1])


def area(polygon):
    return abs(sum(x1 * y2 - x2 * y1 for (x1, y1), (x2, y2) in zip(polygon, polygon[1:] + polygon[:1]))) / 2


def perimeter(polygon):
    return sum(math.dist(a, b) for a, b in zip(polygon, polygon[1:] + polygon[:1]))


square = [(0, 0), (4, 0), (4, 4), (0, 4), (2, 2), (1, 3), (4, 2)]
print("square:", hull(square), "area", area(hull(square)))

rng = random.Random(7)
cloud = [(rng.randint(0, 100), rng.randint(0, 100)) for _ in range(300)]
outline = hull(cloud)
print(f"cloud: {len(cloud)} points, {len(outline)} on the hull")
print(f"area {area(outline):.1f}, perimeter {perimeter(outline):.3f}")
print("corners:", *outline)
