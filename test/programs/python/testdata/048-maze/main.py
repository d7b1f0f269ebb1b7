"""Carves a maze with a fixed seed and finds the way out by breadth-first search."""
import random
from collections import deque

WIDTH, HEIGHT = 20, 8
rng = random.Random(42)


def carve():
    passages, visited, stack = set(), {(0, 0)}, [(0, 0)]
    while stack:
        x, y = stack[-1]
        around = [(x + dx, y + dy) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        fresh = [(i, j) for i, j in around if 0 <= i < WIDTH and 0 <= j < HEIGHT and (i, j) not in visited]
        if not fresh:
            stack.pop()
            continue
        cell = rng.choice(fresh)
        passages.add(frozenset([(x, y), cell]))
        visited.add(cell)
        stack.append(cell)
    return passages


def solve(passages, start, goal):
    previous, queue = {start: None}, deque([start])
    while queue:
        x, y = cell = queue.popleft()
        for step in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if frozenset([cell, step]) in passages and step not in previous:
                previous[step] = cell
                queue.append(step)
    path = [goal]
    while previous[path[-1]]:
        path.append(previous[path[-1]])
    return path[::-1]


def draw(passages, path):
    on_path = set(path)
    print("+" + "--+" * WIDTH)
    for y in range(HEIGHT):
        row, below = "|", "+"
        for x in range(WIDTH):
            row += "**" if (x, y) in on_path else "  "
            row += " " if frozenset([(x, y), (x + 1, y)]) in passages else "|"
            below += ("  " if frozenset([(x, y), (x, y + 1)]) in passages else "--") + "+"
        print(row)
        print(below)


maze = carve()
path = solve(maze, (0, 0), (WIDTH - 1, HEIGHT - 1))
draw(maze, path)
print(len(maze), "passages, the way out takes", len(path) - 1, "steps")
