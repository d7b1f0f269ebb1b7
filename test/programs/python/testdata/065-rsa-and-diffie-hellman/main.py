"""Textbook RSA, a key exchange and Shamir's secret sharing, on fixed numbers."""
import random


def egcd(a, b):
    if b == 0:
        return a, 1, 0
    g, x, y = egcd(b, a % b)
    return g, y, x - a // b * y


def rsa():
    p, q, e = 2**127 - 1, 2**89 - 1, 65537
    n, phi = p * q, (p - 1) * (q - 1)
    d = egcd(e, phi)[1] % phi
    message = int.from_bytes("héllo 你好 🦀".encode(), "big")
    cipher = pow(message, e, n)
    plain = pow(cipher, d, n)
    print("n has", n.bit_length(), "bits, cipher", hex(cipher))
    print("decrypted:", plain.to_bytes(18, "big").decode())
    signature = pow(12345, d, n)
    print("signature valid:", pow(signature, e, n) == 12345, "forged:", pow(signature + 1, e, n) == 12345)


def key_exchange():
    prime, base = 2**521 - 1, 3
    alice, bob = 0xA11CE**20, 0xB0B**25
    left, right = pow(base, alice, prime), pow(base, bob, prime)
    print("shared:", pow(right, alice, prime) == pow(left, bob, prime), hex(pow(right, alice, prime))[:34])


def shares(secret, needed, count, prime, rng):
    polynomial = [secret] + [rng.randrange(prime) for _ in range(needed - 1)]
    return [(x, sum(c * x**k for k, c in enumerate(polynomial)) % prime) for x in range(1, count + 1)]


def combine(points, prime):
    total = 0
    for i, (xi, yi) in enumerate(points):
        top = bottom = 1
        for j, (xj, _) in enumerate(points):
            if i != j:
                top, bottom = top * -xj % prime, bottom * (xi - xj) % prime
        total += yi * top * pow(bottom, -1, prime)
    return total % prime


rsa()
key_exchange()
prime = 2**61 - 1
points = shares(31415926535, 3, 6, prime, random.Random(5))
for chosen in ((0, 1, 2), (5, 3, 1), (0, 4)):
    print("shares", chosen, "give", combine([points[i] for i in chosen], prime) == 31415926535)
print("egcd(240, 46) =", egcd(240, 46))
