"""Drawings out of letters: Pascal's triangle, Sierpinski, Koch, dragon, Hilbert."""


def pascal(rows):
    row = [1]
    for _ in range(rows):
        yield row
        row = [a + b for a, b in zip([0] + row, row + [0])]


def sierpinski(order):
    lines = ["▲"]
    for step in range(order):
        space = " " * (1 << step)
        lines = [space + line + space for line in lines] + [line + " " + line for line in lines]
    return lines


def turtle(path, turns):
    x = y = 0
    dx, dy = 1, 0
    seen = [(0, 0)]
    for c in path:
        if c in turns:
            for _ in range(turns[c]):
                dx, dy = -dy, dx
        elif c == "F":
            x, y = x + dx, y + dy
            seen.append((x, y))
            x, y = x + dx, y + dy
            seen.append((x, y))
    return seen


def rewrite(text, rules, times):
    for _ in range(times):
        text = "".join(rules.get(c, c) for c in text)
    return text


def draw(points):
    xs, ys = [p[0] for p in points], [p[1] for p in points]
    cells = set(points)
    for y in range(max(ys), min(ys) - 1, -1):
        print("".join("█" if (x, y) in cells else " " for x in range(min(xs), max(xs) + 1)).rstrip())


for row in pascal(10):
    print(" ".join(f"{n:^3}" for n in row).center(42).rstrip())
print("\n".join(line.rstrip() for line in sierpinski(4)))
hilbert = rewrite("A", {"A": "+BF-AFA-FB+", "B": "-AF+BFB+FA-"}, 3)
draw(turtle(hilbert, {"+": 1, "-": 3}))
dragon = rewrite("FX", {"X": "X+YF+", "Y": "-FX-Y"}, 7)
points = turtle(dragon, {"+": 3, "-": 1})
draw(points)
print(len(hilbert), "and", len(dragon), "symbols")
