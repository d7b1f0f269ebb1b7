import atexit


class Noisy:
    def __init__(self, name):
        self.name = name

    def __del__(self):
        print("gone:", self.name)


def deep(n):
    return 1 / n if not n else deep(n - 1)


a = Noisy("a")
b = [Noisy("b")]
b.append(b)
g = (Noisy(n) for n in "xyz")
next(g)
atexit.register(print, "at exit")
try:
    deep(1)
except ZeroDivisionError as e:
    raise ValueError("from it") from e
