"""Decorators: memory, retries, a registry, argument checks, call traces."""
import functools


def trace(function):
    depth = 0

    @functools.wraps(function)
    def wrapper(*args):
        nonlocal depth
        print("  " * depth + f"{function.__name__}{args}")
        depth += 1
        result = function(*args)
        depth -= 1
        print("  " * depth + f"= {result}")
        return result

    return wrapper


def retry(times, on):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(1, times + 1):
                try:
                    return function(*args, **kwargs)
                except on as error:
                    print(f"attempt {attempt}: {error}")
            raise RuntimeError(f"{function.__name__} failed {times} times")
        return wrapper
    return decorate


commands = {}


def command(name):
    def register(function):
        commands[name] = function
        return function
    return register


@trace
def ackermann(m, n):
    if m == 0:
        return n + 1
    return ackermann(m - 1, ackermann(m, n - 1) if n else 1)


class Flaky:
    def __init__(self, failures):
        self.left = failures

    @retry(3, on=ConnectionError)
    def fetch(self):
        self.left -= 1
        if self.left >= 0:
            raise ConnectionError(f"{self.left} failures to come")
        return "payload"


@command("greet")
def greet(name):
    """Says hello."""
    return f"hello {name}"


@command("add")
def add(*numbers):
    """Adds numbers."""
    return sum(map(int, numbers))


@functools.lru_cache(maxsize=None)
def partitions(n, largest):
    if n == 0:
        return 1
    return sum(partitions(n - k, k) for k in range(1, min(n, largest) + 1))


ackermann(1, 2)
print(Flaky(2).fetch())
try:
    Flaky(5).fetch()
except RuntimeError as error:
    print(error)
for line in ("greet 世界", "add 1 2 3"):
    name, *arguments = line.split()
    print(name, commands[name](*arguments), commands[name].__doc__)
print("partitions of 100:", partitions(100, 100), "hits:", partitions.cache_info().hits > 1000)


@functools.singledispatch
def describe(value):
    return "something"


describe.register(int, lambda value: f"the number {value}")
describe.register(list, lambda value: f"a list of {', '.join(map(describe, value))}")
print(describe([1, [2, "x"]]))
