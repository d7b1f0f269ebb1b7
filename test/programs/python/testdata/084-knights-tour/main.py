"""A knight's tour by Warnsdorff's rule, and the least number of knight moves."""
from collections import deque

JUMPS = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)]


def tour(size, start):
    order = {start: 1}

    def onward(cell):
        return [
            (cell[0] + dx, cell[1] + dy)
            for dx, dy in JUMPS
            if 0 <= cell[0] + dx < size and 0 <= cell[1] + dy < size and (cell[0] + dx, cell[1] + dy) not in order
        ]

    cell = start
    while len(order) < size * size:
        options = onward(cell)
        if not options:
            return None
        cell = min(options, key=lambda c: (len(onward(c)), -(c[0] - size / 2) ** 2 - (c[1] - size / 2) ** 2, c))
        order[cell] = len(order) + 1
    return order


def distances(size, start):
    steps, queue = {start: 0}, deque([start])
    while queue:
        x, y = queue.popleft()
        for dx, dy in JUMPS:
            cell = (x + dx, y + dy)
            if cell not in steps and 0 <= cell[0] < size and 0 <= cell[1] < size:
                steps[cell] = steps[x, y] + 1
                queue.append(cell)
    return steps


order = tour(8, (0, 0))
for y in range(7, -1, -1):
    print(" ".join(f"{order[x, y]:2}" for x in range(8)))
path = sorted(order, key=order.get)
print("valid:", all((abs(a - c), abs(b - d)) in ((1, 2), (2, 1)) for (a, b), (c, d) in zip(path, path[1:])))
steps = distances(8, (0, 0))
for y in range(7, -1, -1):
    print(" ".join(str(steps[x, y]) for x in range(8)))
print("to the far corner:", steps[7, 7], "moves ♞")
