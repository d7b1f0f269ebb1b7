"""Counts primes with a sieve and shows the largest gap between two of them."""


def primes(limit):
    sieve = bytearray([1]) * (limit + 1)
    sieve[0:2] = b"\0\0"
    for n in range(2, int(limit**0.5) + 1):
        if sieve[n]:
            sieve[n * n :: n] = bytes(len(range(n * n, limit + 1, n)))
    return [n for n, is_prime in enumerate(sieve) if is_prime]


found = primes(1_000_000)
gap, at = max((b - a, a) for a, b in zip(found, found[1:]))
print(f"{len(found)} primes below a million; the largest gap is {gap}, after {at}")
