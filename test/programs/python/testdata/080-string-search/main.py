"""Naive search, Knuth-Morris-Pratt, Rabin-Karp, suffix arrays and palindromes, compared."""


def naive(text, pattern):
    return [i for i in range(len(text) - len(pattern) + 1) if text.startswith(pattern, i)]


def kmp(text, pattern):
    failure, k = [0], 0
    for c in pattern[1:]:
        while k and c != pattern[k]:
            k = failure[k - 1]
        k += c == pattern[k]
        failure.append(k)
    found, k = [], 0
    for i, c in enumerate(text):
        while k and (k == len(pattern) or c != pattern[k]):
            k = failure[k - 1]
        k += c == pattern[k]
        if k == len(pattern):
            found.append(i - k + 1)
    return found


def rabin_karp(text, pattern, base=257, modulus=10**9 + 7):
    n, wanted, rolling, found = len(pattern), 0, 0, []
    top = pow(base, n - 1, modulus)
    for c in pattern:
        wanted = (wanted * base + ord(c)) % modulus
    for i, c in enumerate(text):
        if i >= n:
            rolling = (rolling - ord(text[i - n]) * top) % modulus
        rolling = (rolling * base + ord(c)) % modulus
        if rolling == wanted and text[i - n + 1 : i + 1] == pattern:
            found.append(i - n + 1)
    return found


def suffix_array(text):
    return sorted(range(len(text)), key=lambda i: text[i:])


def longest_repeat(text):
    order, best = suffix_array(text), ""
    for a, b in zip(order, order[1:]):
        n = 0
        while max(a, b) + n < len(text) and text[a + n] == text[b + n]:
            n += 1
        best = max(best, text[a : a + n], key=len)
    return best


def palindrome(text):
    spans = [(c - r, c + r + o) for c in range(len(text)) for o in (0, 1) for r in [radius(text, c, o)]]
    a, b = max(spans, key=lambda span: span[1] - span[0])
    return text[a:b]


def radius(text, centre, odd):
    r = 0
    while centre - r - 1 >= 0 and centre + r + odd < len(text) and text[centre - r - 1] == text[centre + r + odd]:
        r += 1
    return r


text = "abracadabra, 你好你好你, abracabracadabra"
for pattern in ("abra", "你好你", "a", "cad", "zz"):
    results = [f(text, pattern) for f in (naive, kmp, rabin_karp)]
    print(f"{pattern}: {results[0]} all agree: {results[0] == results[1] == results[2]}")
print("longest repeat:", repr(longest_repeat(text)))
print("suffixes of banana:", [("banana")[i:] for i in suffix_array("banana")])
print("palindromes:", palindrome("forgeeksskeegfor"), palindrome("xläragerneregareläy"), palindrome("ab🦀ba"))
