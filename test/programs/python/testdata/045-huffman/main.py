"""Huffman coding of the text on standard input, there and back."""
import heapq
import sys
from collections import Counter


def tree(text):
    heap = [(n, ord(c), c) for c, n in Counter(text).items()]
    heapq.heapify(heap)
    while len(heap) > 1:
        (n1, order, left), (n2, _, right) = heapq.heappop(heap), heapq.heappop(heap)
        heapq.heappush(heap, (n1 + n2, order, (left, right)))
    return heap[0][2]


def codes(node, prefix=""):
    if isinstance(node, str):
        return {node: prefix or "0"}
    return {**codes(node[0], prefix + "0"), **codes(node[1], prefix + "1")}


def decode(bits, node):
    out, here = [], node
    for bit in bits:
        here = here[int(bit)]
        if isinstance(here, str):
            out.append(here)
            here = node
    return "".join(out)


text = sys.stdin.read().strip()
root = tree(text)
table = codes(root)
bits = "".join(table[c] for c in text)
for character, code in sorted(table.items(), key=lambda item: (len(item[1]), item[1]))[:12]:
    print(f"{character!r:6} {text.count(character):3} {code}")
print(f"{len(text.encode()) * 8} bits plain, {len(bits)} coded, {len(table)} symbols")
print("prefix-free:", not any(a != b and b.startswith(a) for a in table.values() for b in table.values()))
print("decoded the same:", decode(bits, root) == text)
