"""A priority queue whose entries can change their priority or be withdrawn."""
import heapq
import itertools


class Scheduler:
    def __init__(self):
        self.heap, self.live, self.counter = [], {}, itertools.count()

    def add(self, task, priority):
        self.cancel(task)
        entry = [priority, next(self.counter), task]
        self.live[task] = entry
        heapq.heappush(self.heap, entry)

    def cancel(self, task):
        if task in self.live:
            self.live.pop(task)[2] = None

    def __iter__(self):
        while self.heap:
            priority, _, task = heapq.heappop(self.heap)
            if task is not None:
                del self.live[task]
                yield priority, task


tasks = Scheduler()
for priority, task in [(5, "write"), (1, "think"), (3, "read"), (3, "talk"), (9, "sleep"), (2, "panic")]:
    tasks.add(task, priority)
tasks.add("sleep", 0)
tasks.cancel("panic")
tasks.cancel("never added")
for priority, task in tasks:
    print(priority, task)
    if task == "think":
        tasks.add("follow-up", 2)

print(heapq.nlargest(3, "pear fig banana kiwi".split(), key=len))
print(list(heapq.merge([1, 4, 9], [2, 3, 10], [5])))
print("median of a stream:", end=" ")
low, high = [], []
for number in (5, 15, 1, 3, 8, 7):
    heapq.heappush(low, -heapq.heappushpop(high, number))
    if len(low) > len(high) + 1:
        heapq.heappush(high, -heapq.heappop(low))
    print(-low[0] if len(low) > len(high) else (high[0] - low[0]) / 2, end=" ")
print()
