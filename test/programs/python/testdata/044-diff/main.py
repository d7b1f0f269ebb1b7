"""Differences of two texts by the longest common subsequence, and by difflib."""
import difflib

OLD = """eggs
milk
bread
butter
jam
tea""".splitlines()
NEW = """eggs
oat milk
bread
jam
honey
tea
café""".splitlines()


def lcs(a, b):
    best = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in reversed(range(len(a))):
        for j in reversed(range(len(b))):
            best[i][j] = best[i + 1][j + 1] + 1 if a[i] == b[j] else max(best[i + 1][j], best[i][j + 1])
    return best


def diff(a, b):
    best, i, j = lcs(a, b), 0, 0
    while i < len(a) or j < len(b):
        if i < len(a) and j < len(b) and a[i] == b[j]:
            yield " ", a[i]
            i, j = i + 1, j + 1
        elif j == len(b) or i < len(a) and best[i + 1][j] >= best[i][j + 1]:
            yield "-", a[i]
            i += 1
        else:
            yield "+", b[j]
            j += 1


for sign, line in diff(OLD, NEW):
    print(sign, line)
print("restored:", [line for sign, line in diff(OLD, NEW) if sign != "+"] == OLD)
print()
print("\n".join(difflib.unified_diff(OLD, NEW, "old.txt", "new.txt", lineterm="", n=1)))
print("ratio:", round(difflib.SequenceMatcher(None, OLD, NEW).ratio(), 4))
print(difflib.get_close_matches("pyhton", ["python", "typhoon", "perl", "pythons"]))
