"""0/1 knapsack by dynamic programming, and the items that were chosen."""
from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    name: str
    weight: int
    value: int


ITEMS = [
    Item("map", 9, 150), Item("compass", 13, 35), Item("water", 153, 200),
    Item("sandwich", 50, 160), Item("glucose", 15, 60), Item("tin", 68, 45),
    Item("banana", 27, 60), Item("apple", 39, 40), Item("cheese", 23, 30),
    Item("beer", 52, 10), Item("suntan cream", 11, 70), Item("camera", 32, 30),
    Item("T-shirt", 24, 15), Item("trousers", 48, 10), Item("umbrella", 73, 40),
    Item("notebook", 22, 80), Item("sunglasses", 7, 20), Item("towel", 18, 12),
]


def pack(items, capacity):
    best = [[0] * (capacity + 1) for _ in range(len(items) + 1)]
    for i, item in enumerate(items, 1):
        for room in range(capacity + 1):
            best[i][room] = best[i - 1][room]
            if item.weight <= room:
                best[i][room] = max(best[i][room], best[i - 1][room - item.weight] + item.value)
    chosen, room = [], capacity
    for i in range(len(items), 0, -1):
        if best[i][room] != best[i - 1][room]:
            chosen.append(items[i - 1])
            room -= items[i - 1].weight
    return best[-1][capacity], chosen[::-1]


for capacity in (50, 200, 400):
    value, chosen = pack(ITEMS, capacity)
    weight = sum(item.weight for item in chosen)
    print(f"capacity {capacity}: value {value}, weight {weight}")
    print("  " + ", ".join(item.name for item in chosen))
