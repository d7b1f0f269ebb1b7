"""Counts words, lengths and letters of the text on standard input."""
import re
import sys
from collections import Counter

text = sys.stdin.read()
words = re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)?", text.lower())
counts = Counter(words)

print(f"{len(text.splitlines())} lines, {len(words)} words, {len(counts)} different")
for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:8]:
    print(f"{word:>8} {'#' * n} {n}")

lengths = Counter(map(len, words))
print("lengths:", dict(sorted(lengths.items())))
print("longest:", max(sorted(counts), key=len))
print("letters not used:", "".join(sorted(set("abcdefghijklmnopqrstuvwxyz") - set(text.lower()))))
