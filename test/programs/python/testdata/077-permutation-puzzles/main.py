"""SEND + MORE = MONEY, magic squares, and the next permutation."""
from itertools import permutations


def alphametic():
    """Column by column with carries, so that few assignments are tried."""
    for s, e, n, d in permutations(range(10), 4):
        if s == 0:
            continue
        y, carry = (d + e) % 10, (d + e) // 10
        for m, o, r in permutations(set(range(10)) - {s, e, n, d, y}, 3):
            send, more = s * 1000 + e * 100 + n * 10 + d, m * 1000 + o * 100 + r * 10 + e
            if m and len({s, e, n, d, y}) == 5 and (n + r + carry) % 10 == e:
                if send + more == m * 10000 + o * 1000 + n * 100 + e * 10 + y:
                    yield send, more, send + more


def magic_squares():
    for a, b, c in permutations(range(1, 10), 3):
        if a + b + c != 15:
            continue
        for d in set(range(1, 10)) - {a, b, c}:
            g = 15 - a - d
            e = 15 - c - g
            square = (a, b, c, d, e, 15 - d - e, g, 15 - b - e, 15 - a - e)
            if len(set(square)) == 9 and min(square) > 0 and max(square) < 10 and square[2] + square[5] + square[8] == 15:
                if square[6] + square[7] + square[8] == 15:
                    yield square


def next_permutation(items):
    items = list(items)
    i = len(items) - 2
    while i >= 0 and items[i] >= items[i + 1]:
        i -= 1
    if i < 0:
        return None
    j = max(k for k in range(i + 1, len(items)) if items[k] > items[i])
    items[i], items[j] = items[j], items[i]
    return items[: i + 1] + items[:i:-1]


def unrank(items, index):
    items, out, factorial = sorted(items), [], 1
    for n in range(2, len(items) + 1):
        factorial *= n
    for n in range(len(items), 0, -1):
        factorial //= n
        position, index = divmod(index, factorial)
        out.append(items.pop(position))
    return "".join(out)


for send, more, money in alphametic():
    print(f"{send} + {more} = {money}")
squares = list(magic_squares())
print(len(squares), "magic squares, the first:", *(squares[0][i : i + 3] for i in (0, 3, 6)))
word, steps = "aabc", 0
while word:
    print("".join(word), end=" ")
    word, steps = next_permutation(word), steps + 1
print(f"({steps})")
print("the millionth permutation of the digits:", unrank("0123456789", 999_999))
