"""A ring buffer, a moving average on it, a sliding maximum, and the Josephus problem."""
from collections import deque


class RingBuffer:
    def __init__(self, capacity):
        self.slots, self.start, self.length = [None] * capacity, 0, 0

    def push(self, value):
        end = (self.start + self.length) % len(self.slots)
        self.slots[end] = value
        if self.length < len(self.slots):
            self.length += 1
        else:
            self.start = (self.start + 1) % len(self.slots)

    def __iter__(self):
        return (self.slots[(self.start + i) % len(self.slots)] for i in range(self.length))

    def __len__(self):
        return self.length


def sliding_maximum(values, width):
    window = deque()
    for i, value in enumerate(values):
        while window and values[window[-1]] <= value:
            window.pop()
        window.append(i)
        if window[0] <= i - width:
            window.popleft()
        if i >= width - 1:
            yield values[window[0]]


def josephus(people, step):
    circle = deque(people)
    while len(circle) > 1:
        circle.rotate(1 - step)
        yield circle.popleft()
    yield circle[0]


prices = [12, 15, 11, 19, 25, 24, 18, 17, 30, 5]
buffer = RingBuffer(4)
for price in prices:
    buffer.push(price)
    print(f"{price:3} {list(buffer)!s:18} average {sum(buffer) / len(buffer):.3f}")
print("maxima of 3:", list(sliding_maximum(prices, 3)))
print("Josephus 41, 3:", *josephus(range(1, 42), 3))
history = deque("abcde", maxlen=5)
history.append("f")
history.extendleft("XY")
print("".join(history), history.index("b"))
