"""Perfect play by minimax with a memory: every game ends in a draw."""
from functools import lru_cache

LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def winner(board):
    for a, b, c in LINES:
        if board[a] != " " and board[a] == board[b] == board[c]:
            return board[a]
    return None


def moves(board):
    return [i for i, cell in enumerate(board) if cell == " "]


def play(board, cell, player):
    return board[:cell] + player + board[cell + 1 :]


@lru_cache(maxsize=None)
def value(board, player):
    """The outcome for X when player is to move: 1, 0 or -1."""
    won = winner(board)
    if won:
        return 1 if won == "X" else -1
    if not moves(board):
        return 0
    other = "O" if player == "X" else "X"
    values = [value(play(board, cell, player), other) for cell in moves(board)]
    return max(values) if player == "X" else min(values)


def best(board, player):
    other = "O" if player == "X" else "X"
    sign = 1 if player == "X" else -1
    return max(moves(board), key=lambda cell: (sign * value(play(board, cell, player), other), -cell))


board, player = " " * 9, "X"
while moves(board) and not winner(board):
    cell = best(board, player)
    board = play(board, cell, player)
    print(f"{player} takes {cell}: " + "/".join(board[i : i + 3].replace(" ", ".") for i in (0, 3, 6)))
    player = "O" if player == "X" else "X"
print("winner:", winner(board) or "nobody")
print("a fork punished:", best("X   O   X", "O"), "| win taken:", best("XX OO    ", "X"))
print("positions seen:", value.cache_info().currsize)
