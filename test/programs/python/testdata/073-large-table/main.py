"""A multiplication table and a long list: about 300 KB of output."""
import sys

WIDTH = 60
out = []
for a in range(1, WIDTH + 1):
    out.append(" ".join(f"{a * b:4}" for b in range(1, WIDTH + 1)))

state = 12345
for line in range(4000):
    words = []
    for _ in range(8):
        state = (state * 1103515245 + 12345) & 0x7FFFFFFF
        words.append("".join("aeiouäöübdfgklmnprst🦀"[(state >> shift) % 21] for shift in range(4, 24, 4)))
    out.append(f"{line:05} " + " ".join(words))

text = "\n".join(out) + "\n"
sys.stdout.write(text)
print(len(text), "characters in", len(out), "lines")
