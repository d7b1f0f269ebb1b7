"""Probabilistic structures with hashes that do not change: Bloom filter, count-min, HyperLogLog."""
import hashlib
import math


def digest(text, salt):
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8, salt=salt.to_bytes(16, "big")).digest(), "big")


class BloomFilter:
    def __init__(self, capacity, error):
        self.bits = math.ceil(-capacity * math.log(error) / math.log(2) ** 2)
        self.hashes = round(self.bits / capacity * math.log(2))
        self.field = bytearray(self.bits // 8 + 1)

    def _positions(self, text):
        return [digest(text, salt) % self.bits for salt in range(self.hashes)]

    def add(self, text):
        for position in self._positions(text):
            self.field[position >> 3] |= 1 << (position & 7)

    def __contains__(self, text):
        return all(self.field[p >> 3] >> (p & 7) & 1 for p in self._positions(text))


class CountMin:
    def __init__(self, width, depth):
        self.width, self.rows = width, [[0] * width for _ in range(depth)]

    def add(self, text):
        for salt, row in enumerate(self.rows):
            row[digest(text, salt) % self.width] += 1

    def count(self, text):
        return min(row[digest(text, salt) % self.width] for salt, row in enumerate(self.rows))


def distinct(items, precision=10):
    registers = [0] * (1 << precision)
    for item in items:
        h = digest(item, 0)
        bucket, rest = h & (len(registers) - 1), h >> precision
        registers[bucket] = max(registers[bucket], (64 - precision) - rest.bit_length() + 1)
    m = len(registers)
    return 0.7213 / (1 + 1.079 / m) * m * m / sum(2.0 ** -r for r in registers)


bloom = BloomFilter(2000, 0.01)
members = [f"wort-{n}-é" for n in range(2000)]
for word in members:
    bloom.add(word)
false = sum(f"other-{n}" in bloom for n in range(5000))
print(f"{bloom.bits} bits, {bloom.hashes} hashes, all members found: {all(w in bloom for w in members)}")
print(f"false positives: {false / 50:.2f} %")
sketch = CountMin(200, 4)
for n in range(1, 60):
    for _ in range(n):
        sketch.add(f"item{n}")
print("estimates:", [(n, sketch.count(f"item{n}")) for n in (1, 10, 30, 59)])
estimate = distinct(f"user{n % 20_000}" for n in range(40_000))
print(f"20000 distinct estimated as {estimate:.0f}, {abs(estimate / 20_000 - 1):.1%} off")
