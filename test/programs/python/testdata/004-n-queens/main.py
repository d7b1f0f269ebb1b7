"""All solutions of the n queens problem, counted; the first one drawn."""


def solutions(n):
    def place(row, columns, up, down, board):
        if row == n:
            yield tuple(board)
            return
        for column in range(n):
            if column in columns or row + column in up or row - column in down:
                continue
            yield from place(
                row + 1, columns | {column}, up | {row + column}, down | {row - column}, board + [column]
            )

    yield from place(0, frozenset(), frozenset(), frozenset(), [])


def draw(board):
    for column in board:
        print(" ".join("♛" if c == column else "·" for c in range(len(board))))


for n in range(1, 9):
    print(f"{n} queens: {sum(1 for _ in solutions(n))} solutions")
print()
draw(next(solutions(8)))
