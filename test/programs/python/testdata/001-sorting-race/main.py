"""Four sorting algorithms on the same data, with the comparisons each one makes."""
import random


class Counted:
    """A number that counts how often it is compared."""

    comparisons = 0

    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        Counted.comparisons += 1
        return self.value < other.value


def insertion_sort(items):
    items = list(items)
    for i in range(1, len(items)):
        j = i
        while j > 0 and items[j] < items[j - 1]:
            items[j], items[j - 1] = items[j - 1], items[j]
            j -= 1
    return items


def merge_sort(items):
    if len(items) < 2:
        return list(items)
    middle = len(items) // 2
    left, right = merge_sort(items[:middle]), merge_sort(items[middle:])
    merged = []
    while left and right:
        merged.append((right if right[0] < left[0] else left).pop(0))
    return merged + left + right


def quick_sort(items):
    if len(items) < 2:
        return list(items)
    pivot, rest = items[0], items[1:]
    smaller, larger = [], []
    for item in rest:
        (smaller if item < pivot else larger).append(item)
    return quick_sort(smaller) + [pivot] + quick_sort(larger)


def heap_sort(items):
    import heapq
    heap = list(items)
    heapq.heapify(heap)
    return [heapq.heappop(heap) for _ in range(len(heap))]


random.seed(2024)
numbers = [random.randrange(1000) for _ in range(200)]
expected = sorted(numbers)
for sort in (insertion_sort, merge_sort, quick_sort, heap_sort):
    Counted.comparisons = 0
    result = [c.value for c in sort([Counted(n) for n in numbers])]
    print(f"{sort.__name__:15} {Counted.comparisons:6} comparisons, correct: {result == expected}")
print("first ten:", expected[:10])
