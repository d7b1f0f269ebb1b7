"""Disjoint sets: Kruskal's spanning tree, and the islands of a map."""


class DisjointSets:
    def __init__(self, items):
        self.parent = {item: item for item in items}
        self.count = len(self.parent)

    def find(self, item):
        while self.parent[item] != item:
            self.parent[item] = item = self.parent[self.parent[item]]
        return item

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        if a == b:
            return False
        self.parent[a] = b
        self.count -= 1
        return True


EDGES = [("A", "B", 7), ("A", "D", 5), ("B", "C", 8), ("B", "D", 9), ("B", "E", 7), ("C", "E", 5),
         ("D", "E", 15), ("D", "F", 6), ("E", "F", 8), ("E", "G", 9), ("F", "G", 11)]
sets, total = DisjointSets("ABCDEFG"), 0
for a, b, weight in sorted(EDGES, key=lambda edge: edge[2]):
    if sets.union(a, b):
        total += weight
        print(f"take {a}-{b} ({weight})")
print("weight of the spanning tree:", total)

MAP = """
~~##~~~#
~~#~~~##
#~~~##~~
##~~##~#
""".split()
land = {(r, c) for r, row in enumerate(MAP) for c, cell in enumerate(row) if cell == "#"}
islands = DisjointSets(land)
for r, c in land:
    for neighbour in ((r + 1, c), (r, c + 1)):
        if neighbour in land:
            islands.union((r, c), neighbour)
names = {}
for r, row in enumerate(MAP):
    print("".join(names.setdefault(islands.find((r, c)), chr(97 + len(names))) if (r, c) in land else "~" for c in range(len(row))))
print(islands.count, "islands")
