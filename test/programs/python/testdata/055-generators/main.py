"""Lazy pipelines: generators, itertools, send and throw, a coroutine that averages."""
import itertools as it


def primes():
    known = {}
    for n in it.count(2):
        if n not in known:
            yield n
            known[n * n] = [n]
        else:
            for p in known.pop(n):
                known.setdefault(n + p, []).append(p)


def chunks(iterable, size):
    iterator = iter(iterable)
    return iter(lambda: list(it.islice(iterator, size)), [])


def average():
    total, count, mean = 0, 0, None
    while True:
        try:
            total += yield mean
            count += 1
        except ValueError:
            total = count = 0
        mean = total / count if count else None


def flatten(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item


print(list(it.islice(primes(), 15)), "the 3000th:", next(it.islice(primes(), 2999, None)))
print("twins:", list(it.islice(((a, b) for a, b in zip(primes(), it.islice(primes(), 1, None)) if b - a == 2), 6)))
print(list(chunks("abcdefgh", 3)))
mean = average()
next(mean)
print([mean.send(n) for n in (10, 20, 60)], mean.throw(ValueError()), mean.send(8))
print(list(flatten([1, [2, (3, [4, []]), 5], ((6,),)])))
print([(k, len(list(g))) for k, g in it.groupby("aaabccddddda")])
print(list(it.accumulate([3, 1, 4, 1, 5, 9], max)), list(it.takewhile(lambda n: n < 20, it.accumulate(it.count(1)))))
print(*map("".join, it.permutations("abc")), "|", *map("".join, it.combinations("abcd", 2)))
print(list(it.zip_longest("ab", [1, 2, 3], fillvalue="-")), list(it.chain.from_iterable([[1], [2, 3]])))
print(sum(1 for _ in it.product("01", repeat=10)), list(it.compress("abcdef", [1, 0, 1, 0, 1, 1])))
