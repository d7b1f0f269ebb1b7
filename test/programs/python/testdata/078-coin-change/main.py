"""Three dynamic programs: coins, the longest increasing subsequence, matrix chains."""
from bisect import bisect_left
from functools import lru_cache


def ways(amount, coins):
    table = [1] + [0] * amount
    for coin in coins:
        for total in range(coin, amount + 1):
            table[total] += table[total - coin]
    return table[amount]


def fewest(amount, coins):
    best = [()] + [None] * amount
    for total in range(1, amount + 1):
        options = [best[total - c] + (c,) for c in coins if c <= total and best[total - c] is not None]
        best[total] = min(options, key=len, default=None)
    return best[amount]


def increasing(values):
    tails, where, previous = [], [], {}
    for i, value in enumerate(values):
        k = bisect_left(tails, value)
        tails[k:k + 1], where[k:k + 1] = [value], [i]
        previous[i] = where[k - 1] if k else None
    i, out = where[-1], []
    while i is not None:
        out.append(values[i])
        i = previous[i]
    return out[::-1]


def matrix_chain(sizes):
    @lru_cache(None)
    def solve(i, j):
        if j - i == 1:
            return 0, f"M{i}"
        options = []
        for k in range(i + 1, j):
            (a, left), (b, right) = solve(i, k), solve(k, j)
            options.append((a + b + sizes[i] * sizes[k] * sizes[j], f"({left}{right})"))
        return min(options)

    return solve(0, len(sizes) - 1)


def house_robber(values):
    take, skip = 0, 0
    for value in values:
        take, skip = skip + value, max(take, skip)
    return max(take, skip)


print("ways to change 1 pound:", ways(100, (1, 2, 5, 10, 20, 50)), "and 10 euros:", ways(1000, (1, 2, 5, 10, 20, 50, 100, 200)))
print("fewest for 63 of (1, 5, 21, 25):", fewest(63, (1, 5, 21, 25)), "for 7 of (2, 4):", fewest(7, (2, 4)))
print("increasing:", increasing([0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15]))
print("matrix chain:", matrix_chain((30, 35, 15, 5, 10, 20, 25)))
print("robber:", house_robber([2, 7, 9, 3, 1, 11, 4]))
