"""Random experiments with a fixed seed: pi, the birthday paradox, a random walk."""
import random
import statistics

rng = random.Random(20240501)

inside = sum(rng.random() ** 2 + rng.random() ** 2 < 1 for _ in range(200_000))
print(f"pi is about {4 * inside / 200_000:.4f}")


def shared_birthday(people):
    days = [rng.randrange(365) for _ in range(people)]
    return len(set(days)) < people


for people in (10, 23, 40):
    rate = sum(shared_birthday(people) for _ in range(2000)) / 2000
    print(f"{people} people share a birthday with probability {rate:.2f}")

position = extreme = 0
for _ in range(10_000):
    position += rng.choice((-1, 1))
    extreme = max(extreme, abs(position))
print("walk ended at", position, "and was at most", extreme, "away")

sample = [rng.gauss(100, 15) for _ in range(5000)]
print(f"mean {statistics.fmean(sample):.2f}, deviation {statistics.stdev(sample):.2f}, median {statistics.median(sample):.2f}")
print("quartiles:", [round(q, 1) for q in statistics.quantiles(sample, n=4)])
deck = [rank + suit for suit in "♠♥♦♣" for rank in "789TJQKA"]
rng.shuffle(deck)
print("hand:", *deck[:8], "| skat:", *rng.sample(deck[8:], 2))
print("weighted:", "".join(rng.choices("abc", weights=(5, 2, 1), k=40)))
