"""A least-recently-used cache on an ordered dictionary, with statistics."""
from collections import OrderedDict


class LRUCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def get(self, key, compute):
        if key in self.entries:
            self.hits += 1
            self.entries.move_to_end(key)
            return self.entries[key]
        self.misses += 1
        value = self.entries[key] = compute(key)
        if len(self.entries) > self.capacity:
            evicted, _ = self.entries.popitem(last=False)
            print(f"  evicted {evicted}")
        return value

    def __repr__(self):
        return f"LRUCache({list(self.entries)})"


cache = LRUCache(3)
for word in "tea coffee tea milk juice tea coffee water tea milk".split():
    print(word, "->", cache.get(word, lambda w: sum(map(ord, w))))
print(cache)
print(f"{cache.hits} hits, {cache.misses} misses")
