"""The Mandelbrot set in letters, and its area by counting."""

SHADES = " .:-=+*#%@"


def escape(c, limit):
    z = 0j
    for n in range(limit):
        z = z * z + c
        if z.real * z.real + z.imag * z.imag > 4:
            return n
    return limit


for row in range(23):
    line = ""
    for column in range(72):
        c = complex(-2.2 + column * 3.2 / 71, -1.2 + row * 2.4 / 22)
        line += SHADES[min(escape(c, 45) // 5, 9)]
    print(line.rstrip())

inside = sum(
    escape(complex(-2 + (i + 0.5) * 0.025, (j + 0.5) * 0.025), 60) == 60 for i in range(100) for j in range(50)
)
print(f"area about {2 * inside * 0.025 ** 2:.2f}")
