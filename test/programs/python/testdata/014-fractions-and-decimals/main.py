"""Exact arithmetic: harmonic numbers, continued fractions, money and 60 digits of pi."""
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, getcontext
from fractions import Fraction


def continued(fraction):
    terms = []
    while True:
        whole = fraction.numerator // fraction.denominator
        terms.append(whole)
        rest = fraction - whole
        if not rest:
            return terms
        fraction = 1 / rest


def pi(digits):
    """The Gauss-Legendre iteration."""
    getcontext().prec = digits + 10
    a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal("0.25"), Decimal(1)
    for _ in range(8):
        mean = (a + b) / 2
        b = (a * b).sqrt()
        t -= p * (a - mean) ** 2
        a, p = mean, 2 * p
    return str((a + b) ** 2 / (4 * t))[: digits + 2]


harmonic = sum((Fraction(1, n) for n in range(1, 21)), Fraction())
print("H(20) =", harmonic, "~", float(harmonic))
print("415/93 =", continued(Fraction(415, 93)))
print("pi ~", Fraction(3.141592653589793).limit_denominator(1000))
print("0.1 + 0.2 == 0.3:", 0.1 + 0.2 == 0.3, Decimal("0.1") + Decimal("0.2") == Decimal("0.3"))
cent = Decimal("0.01")
for amount in ("2.675", "2.665", "-1.005"):
    price = Decimal(amount)
    print(amount, price.quantize(cent, ROUND_HALF_UP), price.quantize(cent, ROUND_HALF_EVEN))
print("pi =", pi(60))
