"""Polynomials as a class: arithmetic, division, derivative, roots, interpolation."""
from fractions import Fraction
from itertools import zip_longest

SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Poly:
    """Coefficients from the lowest degree upwards."""

    def __init__(self, *coefficients):
        c = list(coefficients)
        while len(c) > 1 and c[-1] == 0:
            c.pop()
        self.c = c or [0]

    def __add__(self, other):
        return Poly(*(a + b for a, b in zip_longest(self.c, other.c, fillvalue=0)))

    def __neg__(self):
        return Poly(*(-a for a in self.c))

    def __sub__(self, other):
        return self + -other

    def __mul__(self, other):
        out = [0] * (len(self.c) + len(other.c) - 1)
        for i, a in enumerate(self.c):
            for j, b in enumerate(other.c):
                out[i + j] += a * b
        return Poly(*out)

    def __divmod__(self, other):
        quotient, rest = Poly(0), self
        while len(rest.c) >= len(other.c) and rest.c != [0]:
            term = Poly(*[0] * (len(rest.c) - len(other.c)), Fraction(rest.c[-1]) / other.c[-1])
            quotient, rest = quotient + term, rest - term * other
        return quotient, rest

    def __call__(self, x):
        result = 0
        for a in reversed(self.c):
            result = result * x + a
        return result

    def __eq__(self, other):
        return self.c == other.c

    def derivative(self):
        return Poly(*(i * a for i, a in enumerate(self.c) if i))

    def __str__(self):
        terms = []
        for i, a in reversed(list(enumerate(self.c))):
            if a or len(self.c) == 1:
                power = "" if i == 0 else "x" if i == 1 else "x" + str(i).translate(SUPERSCRIPT)
                number = "" if abs(a) == 1 and i else str(abs(a))
                terms.append(f"{'-' if a < 0 else '+'} {number}{power}")
        return " ".join(terms).lstrip("+ ")


def gcd(a, b):
    while b.c != [0]:
        a, b = b, divmod(a, b)[1]
    return Poly(*(Fraction(x) / a.c[-1] for x in a.c))


def interpolate(points):
    total = Poly(0)
    for i, (xi, yi) in enumerate(points):
        term = Poly(Fraction(yi))
        for j, (xj, _) in enumerate(points):
            if i != j:
                term *= Poly(Fraction(-xj, xi - xj), Fraction(1, xi - xj))
        total += term
    return total


p, q = Poly(-6, 11, -6, 1), Poly(-2, 1)
print("p =", p, "| q =", q)
print("p + q =", p + q, "| p · q =", p * q, "| p - p =", p - p)
quotient, rest = divmod(p, q)
print("p / q =", quotient, "rest", rest, "| checked:", quotient * q + rest == p)
print("p' =", p.derivative(), "| roots:", [x for x in range(-10, 11) if p(x) == 0])
print("gcd:", gcd(p, Poly(-1, 0, 1)))
print("through points:", interpolate([(0, 1), (1, 3), (2, 11), (3, 31)]))
power = Poly(1)
for _ in range(10):
    power *= Poly(1, 1)
print("(x + 1)¹⁰ =", power)
