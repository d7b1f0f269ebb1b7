"""Numeric work for a processor: power iteration on an infinite matrix, and numerical integration."""
import math


def entry(i, j):
    return 1.0 / ((i + j) * (i + j + 1) // 2 + i + 1)


def multiply(vector):
    n = range(len(vector))
    return [math.fsum(entry(i, j) * vector[j] for j in n) for i in n]


def multiply_transposed(vector):
    n = range(len(vector))
    return [math.fsum(entry(j, i) * vector[j] for j in n) for i in n]


def spectral_norm(size, rounds):
    u = [1.0] * size
    for _ in range(rounds):
        v = multiply_transposed(multiply(u))
        u = multiply_transposed(multiply(v))
    return math.sqrt(math.fsum(a * b for a, b in zip(u, v)) / math.fsum(a * a for a in v))


def simpson(f, a, b, n):
    h = (b - a) / n
    inner = math.fsum((4 if i % 2 else 2) * f(a + i * h) for i in range(1, n))
    return h / 3 * (f(a) + inner + f(b))


print(f"spectral norm of 60: {spectral_norm(60, 8):.9f}")
print(f"integral of sin from 0 to pi: {simpson(math.sin, 0, math.pi, 200):.10f}")
print(f"integral of exp(-x*x): {simpson(lambda x: math.exp(-x * x), -6, 6, 600):.10f} ~ {math.sqrt(math.pi):.10f}")
x = 1.0
for _ in range(6):
    x -= (x * x - 2) / (2 * x)
print(f"Newton: {x:.12f}")
