"""A generic segment tree against a plain loop, and a Fenwick tree that counts inversions."""
import random
from typing import Callable, Generic, List, TypeVar

T = TypeVar("T")


class SegmentTree(Generic[T]):
    def __init__(self, values: List[T], join: Callable[[T, T], T], neutral: T):
        self.size, self.join, self.neutral = len(values), join, neutral
        self.nodes = [neutral] * self.size + list(values)
        for i in range(self.size - 1, 0, -1):
            self.nodes[i] = join(self.nodes[2 * i], self.nodes[2 * i + 1])

    def update(self, index: int, value: T) -> None:
        index += self.size
        self.nodes[index] = value
        while index > 1:
            index //= 2
            self.nodes[index] = self.join(self.nodes[2 * index], self.nodes[2 * index + 1])

    def query(self, start: int, stop: int) -> T:
        left, right, result = start + self.size, stop + self.size, self.neutral
        while left < right:
            if left & 1:
                result, left = self.join(result, self.nodes[left]), left + 1
            if right & 1:
                right -= 1
                result = self.join(result, self.nodes[right])
            left, right = left // 2, right // 2
        return result


def inversions(values):
    tree, found = [0] * (len(values) + 1), 0
    rank = {value: i + 1 for i, value in enumerate(sorted(values))}
    for seen, value in enumerate(values):
        i = rank[value]
        found += seen
        while i:
            found -= tree[i]
            i &= i - 1
        i = rank[value]
        while i < len(tree):
            tree[i] += 1
            i += i & -i
    return found


rng = random.Random(1)
values = [rng.randint(-50, 50) for _ in range(100)]
sums, minima = SegmentTree(values, lambda a, b: a + b, 0), SegmentTree(values, min, 99)
agree = 0
for _ in range(500):
    i, value = rng.randrange(100), rng.randint(-50, 50)
    values[i] = value
    sums.update(i, value)
    minima.update(i, value)
    a, b = sorted(rng.sample(range(101), 2))
    agree += sums.query(a, b) == sum(values[a:b]) and minima.query(a, b) == min(values[a:b])
print(agree, "of 500 queries agree; total", sums.query(0, 100), "minimum", minima.query(0, 100))
permutation = list(range(1000))
rng.shuffle(permutation)
print("inversions:", inversions(permutation), inversions(range(10)), inversions(range(10, 0, -1)))
