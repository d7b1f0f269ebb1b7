"""Descriptive statistics and a least-squares line over numbers from standard input."""
import math
import statistics as st
import sys

pairs = [tuple(map(float, line.split())) for line in sys.stdin if line.strip() and not line.startswith("#")]
xs, ys = zip(*pairs)


def fit(xs, ys):
    mean_x, mean_y = st.fmean(xs), st.fmean(ys)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / sum((x - mean_x) ** 2 for x in xs)
    return slope, mean_y - slope * mean_x


def correlation(xs, ys):
    mean_x, mean_y = st.fmean(xs), st.fmean(ys)
    top = sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
    return top / math.sqrt(sum((x - mean_x) ** 2 for x in xs) * sum((y - mean_y) ** 2 for y in ys))


for name, values in (("x", xs), ("y", ys)):
    print(f"{name}: n {len(values)}, mean {st.fmean(values):.3f}, median {st.median(values)}, "
          f"sd {st.stdev(values):.4f}, min {min(values)}, max {max(values)}")
slope, intercept = fit(xs, ys)
print(f"y = {slope:.4f} x + {intercept:.4f}, r = {correlation(xs, ys):.5f}")
for x, y in pairs:
    print(f"{x:5.1f} {y:6.2f} {'*':>{round(y * 3)}}")
residuals = [y - slope * x - intercept for x, y in pairs]
print("sum of residuals is zero:", abs(sum(residuals)) < 1e-9)
print("mode", st.mode("abracadabra"), "harmonic", st.harmonic_mean([40, 60]), "multimode", st.multimode([1, 2, 2, 3, 3]))
normal = st.NormalDist(100, 15)
print(f"P(X < 130) = {normal.cdf(130):.5f}, 95% below {normal.inv_cdf(0.95):.3f}")
