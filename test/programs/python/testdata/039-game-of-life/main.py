"""Conway's Game of Life on an unbounded board: a glider, a blinker and the R-pentomino."""
from collections import Counter


def step(cells):
    neighbours = Counter(
        (r + dr, c + dc) for r, c in cells for dr in (-1, 0, 1) for dc in (-1, 0, 1) if (dr, dc) != (0, 0)
    )
    return {cell for cell, n in neighbours.items() if n == 3 or n == 2 and cell in cells}


def parse(text):
    return {(r, c) for r, row in enumerate(text.split()) for c, cell in enumerate(row) if cell == "O"}


def draw(cells, rows, columns):
    for r in range(rows):
        print("".join("█" if (r, c) in cells else "·" for c in range(columns)))
    print()


glider = parse(".O. ..O OOO")
for generation in range(0, 9):
    if generation % 4 == 0:
        print("generation", generation)
        draw(glider, 6, 6)
    glider = step(glider)

blinker = parse("... OOO ...")
print("blinker has period two:", step(step(blinker)) == blinker != step(blinker))

cells = parse(".OO OO. .O.")
for generation in range(201):
    if generation % 50 == 0:
        print(f"R-pentomino, generation {generation}: {len(cells)} cells")
    cells = step(cells)
