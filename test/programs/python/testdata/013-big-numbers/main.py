"""Factorials, Fibonacci numbers, powers and a Mersenne number, all exact."""
import math


def fibonacci(n):
    """Fast doubling: F(2k) and F(2k+1) from F(k) and F(k+1)."""
    if n == 0:
        return 0, 1
    a, b = fibonacci(n // 2)
    c, d = a * (2 * b - a), a * a + b * b
    return (d, c + d) if n % 2 else (c, d)


def short(number):
    text = str(number)
    return text if len(text) < 40 else f"{text[:16]}...{text[-16:]} ({len(text)} digits)"


for n in (10, 25, 100, 1000):
    print(f"{n}! = {short(math.factorial(n))}")
for n in (10, 100, 1000, 10000):
    print(f"F({n}) = {short(fibonacci(n)[0])}")
print("2^521-1 =", short(2**521 - 1))
print("binomial(300, 150) =", short(math.comb(300, 150)))
print("digit sum of 2^1000:", sum(map(int, str(2**1000))))
print("last ten digits of 3^(10^18):", pow(3, 10**18, 10**10))
print("inverse of 17 modulo 10^9+7:", pow(17, -1, 10**9 + 7))
print("integer square root of 10^60:", math.isqrt(10**60))
