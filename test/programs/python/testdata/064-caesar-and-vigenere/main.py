"""Classical ciphers, a frequency attack on one of them, and an Enigma-like rotor."""
import string
from collections import Counter

ENGLISH = "etaoinshrdlcumwfgypbvkjxqz"


def shift(text, amount):
    out = []
    for c in text:
        if c in string.ascii_letters:
            base = ord("A") if c.isupper() else ord("a")
            c = chr((ord(c) - base + amount) % 26 + base)
        out.append(c)
    return "".join(out)


def vigenere(text, key, sign=1):
    out, position = [], 0
    for c in text:
        if c.isascii() and c.isalpha():
            c = shift(c, sign * (ord(key[position % len(key)]) - ord("a")))
            position += 1
        out.append(c)
    return "".join(out)


def crack(text):
    def score(candidate):
        counts = Counter(c for c in candidate.lower() if c in ENGLISH)
        return sum(counts[c] * (26 - rank) for rank, c in enumerate(ENGLISH))

    return max(range(26), key=lambda amount: score(shift(text, -amount)))


def rotor(text, wiring, position=0):
    """A reflecting rotor: running it twice from the same position gives the text back."""
    out = []
    for c in text:
        position = (position + 1) % 26
        i = (string.ascii_uppercase.index(c) + position) % 26
        j = string.ascii_uppercase.index(wiring[i])
        out.append(string.ascii_uppercase[(j - position) % 26])
    return "".join(out)


plain = "It was a bright cold day in April, and the clocks were striking thirteen; Winston's café."
secret = shift(plain, 11)
print(secret)
print("cracked with shift", crack(secret), "->", shift(secret, -crack(secret)) == plain)
hidden = vigenere(plain, "lemon")
print(hidden)
print(vigenere(hidden, "lemon", -1) == plain)
reflector = "YRUHQSLDPXNGOKMIEBFZCWVJAT"
sealed = rotor("ATTACKATDAWN", reflector)
print(sealed, rotor(sealed, reflector))
print("rot13:", str.translate("Uryyb", str.maketrans(string.ascii_letters, shift(string.ascii_letters, 13))))
print("rail fence:", "".join(c for rail in range(3) for i, c in enumerate("WEAREDISCOVERED") if min(i % 4, 4 - i % 4) == rail))
