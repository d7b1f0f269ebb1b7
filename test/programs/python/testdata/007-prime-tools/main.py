"""Sieve, factorisation, Euler's phi and a Miller-Rabin test that agree with each other."""
from collections import Counter
from math import gcd, isqrt


def sieve(limit):
    flags = bytearray([1]) * (limit + 1)
    flags[0:2] = b"\0\0"
    for n in range(2, isqrt(limit) + 1):
        if flags[n]:
            flags[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, prime in enumerate(flags) if prime]


def factors(n):
    found, divisor = Counter(), 2
    while divisor * divisor <= n:
        while n % divisor == 0:
            found[divisor] += 1
            n //= divisor
        divisor += 1
    if n > 1:
        found[n] += 1
    return found


def phi(n):
    result = n
    for prime in factors(n):
        result -= result // prime
    return result


def probably_prime(n):
    if n < 2 or any(n % p == 0 and n != p for p in (2, 3, 5, 7)):
        return False
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in (2, 3, 5, 7, 11, 13):
        if base % n == 0:
            continue
        x = pow(base, odd, n)
        if x != 1 and all(pow(x, 1 << i, n) != n - 1 for i in range(twos)):
            return False
    return True


primes = sieve(100_000)
print(len(primes), "primes up to 100000, the last five:", primes[-5:])
print("sieve and Miller-Rabin agree:", primes[:2000] == [n for n in range(primes[2000]) if probably_prime(n)])
for n in (360, 9699690, 600851475143, 2**31 - 1):
    print(n, "=", " * ".join(f"{p}^{k}" if k > 1 else str(p) for p, k in factors(n).items()), "phi", phi(n))
print("phi(36) by counting:", sum(gcd(36, k) == 1 for k in range(1, 37)))
print("2^127-1 is prime:", probably_prime(2**127 - 1))
