"""Reads measurements as they come, skips comments, reports bad lines, draws a histogram."""
import math
import sys


def read(stream):
    for number, line in enumerate(stream, 1):
        text = line.partition("#")[0].strip()
        if not text:
            continue
        try:
            value = float(text.replace(",", "."))
        except ValueError:
            print(f"line {number}: not a number: {text!r}")
            continue
        if not math.isfinite(value):
            print(f"line {number}: not finite: {text}")
            continue
        yield value


def histogram(values, bins):
    low, high = min(values), max(values)
    width = (high - low) / bins
    counts = [0] * bins
    for value in values:
        counts[min(int((value - low) / width), bins - 1)] += 1
    return [(low + i * width, low + (i + 1) * width, n) for i, n in enumerate(counts)]


values = list(read(sys.stdin))
print(len(values), "values between", min(values), "and", max(values))
for start, stop, count in histogram(values, 6):
    print(f"{start:6.2f} … {stop:6.2f} │{'▇' * count} {count}")
print("stem and leaf")
for stem in sorted({int(v // 10) for v in values}):
    print(f"{stem:3} | {' '.join(str(int(v % 10)) for v in sorted(values) if v // 10 == stem)}")
