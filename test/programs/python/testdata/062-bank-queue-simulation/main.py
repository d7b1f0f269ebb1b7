"""A discrete event simulation of a bank counter, with a seeded arrival process."""
import heapq
import random
import statistics
from dataclasses import dataclass, field


@dataclass(order=True)
class Event:
    time: float
    order: int
    kind: str = field(compare=False)
    customer: int = field(compare=False)


class Bank:
    def __init__(self, clerks, seed):
        self.rng = random.Random(seed)
        self.free, self.queue, self.events = clerks, [], []
        self.order = 0
        self.arrived, self.waits, self.longest = {}, [], 0

    def schedule(self, time, kind, customer):
        self.order += 1
        heapq.heappush(self.events, Event(time, self.order, kind, customer))

    def serve(self, now):
        while self.free and self.queue:
            customer = self.queue.pop(0)
            self.free -= 1
            self.waits.append(now - self.arrived[customer])
            self.schedule(now + self.rng.expovariate(1 / 4.0), "leave", customer)

    def run(self, customers):
        now = 0.0
        for customer in range(customers):
            now += self.rng.expovariate(1 / 1.5)
            self.schedule(now, "arrive", customer)
        while self.events:
            event = heapq.heappop(self.events)
            if event.kind == "arrive":
                self.arrived[event.customer] = event.time
                self.queue.append(event.customer)
            else:
                self.free += 1
            self.serve(event.time)
            self.longest = max(self.longest, len(self.queue))
        return event.time


for clerks in (2, 3, 4, 6):
    bank = Bank(clerks, seed=99)
    end = bank.run(1000)
    print(
        f"{clerks} clerks: closed at {end:7.1f} min, mean wait {statistics.fmean(bank.waits):6.2f}, "
        f"worst {max(bank.waits):6.2f}, longest queue {bank.longest}"
    )
