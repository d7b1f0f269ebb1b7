"""Solves a Sudoku from standard input by constraint and backtracking."""
import sys

CELLS = [(r, c) for r in range(9) for c in range(9)]
PEERS = {
    (r, c): {(i, j) for i, j in CELLS if (i == r or j == c or (i // 3, j // 3) == (r // 3, c // 3))} - {(r, c)}
    for r, c in CELLS
}


def assign(options, cell, digit):
    """Fixes cell and what follows from it; None when it contradicts."""
    options = dict(options)
    pending = [(cell, digit)]
    while pending:
        cell, digit = pending.pop()
        if digit not in options[cell]:
            return None
        options[cell] = digit
        for peer in PEERS[cell]:
            if digit in options[peer]:
                options[peer] = options[peer].replace(digit, "")
                if not options[peer]:
                    return None
                if len(options[peer]) == 1:
                    pending.append((peer, options[peer]))
    return options


def solve(options):
    if options is None:
        return None
    open_cells = [cell for cell in CELLS if len(options[cell]) > 1]
    if not open_cells:
        return options
    cell = min(open_cells, key=lambda c: len(options[c]))
    for digit in options[cell]:
        solution = solve(assign(options, cell, digit))
        if solution:
            return solution
    return None


for puzzle in sys.stdin.read().split():
    options = {cell: "123456789" for cell in CELLS}
    for cell, digit in zip(CELLS, puzzle):
        if digit != "." and options is not None:
            options = assign(options, cell, digit)
    solution = solve(options)
    if solution is None:
        print("no solution")
        continue
    for r in range(9):
        row = "".join(solution[r, c] for c in range(9))
        print(" ".join((row[:3], row[3:6], row[6:])) + ("\n" if r in (2, 5, 8) else ""))
