"""Levenshtein distance and the edits that turn one word into the other."""


def table(a, b):
    rows = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                rows[i][j] = i + j
            else:
                rows[i][j] = min(
                    rows[i - 1][j] + 1,
                    rows[i][j - 1] + 1,
                    rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                )
    return rows


def script(a, b):
    rows, i, j, steps = table(a, b), len(a), len(b), []
    while i or j:
        here = rows[i][j]
        if i and j and here == rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]):
            i, j = i - 1, j - 1
            if a[i] != b[j]:
                steps.append(f"replace {a[i]} by {b[j]}")
        elif i and here == rows[i - 1][j] + 1:
            i -= 1
            steps.append(f"delete {a[i]}")
        else:
            j -= 1
            steps.append(f"insert {b[j]}")
    return steps[::-1]


for a, b in [("kitten", "sitting"), ("Sonntag", "Samstag"), ("", "abc"), ("naïve", "native"), ("狐狸", "狸猫")]:
    steps = script(a, b)
    print(f"{a!r} -> {b!r}: {table(a, b)[-1][-1]}")
    for step in steps:
        print("   ", step)
