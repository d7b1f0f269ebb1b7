"""A Lisp in sixty lines: closures, recursion, lists."""
import math
import operator as op
import sys


def tokens(text):
    return text.replace("(", " ( ").replace(")", " ) ").split()


def read(stream):
    token = stream.pop(0)
    if token == "(":
        items = []
        while stream[0] != ")":
            items.append(read(stream))
        stream.pop(0)
        return items
    try:
        return int(token)
    except ValueError:
        return token


class Scope(dict):
    def __init__(self, names=(), values=(), outer=None):
        super().__init__(zip(names, values))
        self.outer = outer

    def find(self, name):
        if name in self:
            return self
        if self.outer is None:
            raise NameError(f"unbound: {name}")
        return self.outer.find(name)


def evaluate(x, scope):
    if isinstance(x, str):
        return scope.find(x)[x]
    if not isinstance(x, list):
        return x
    head, *rest = x
    if head == "quote":
        return rest[0]
    if head == "if":
        test, then, otherwise = rest
        return evaluate(then if evaluate(test, scope) else otherwise, scope)
    if head == "define":
        scope[rest[0]] = evaluate(rest[1], scope)
        return None
    if head == "lambda":
        names, body = rest
        return lambda *values: evaluate(body, Scope(names, values, scope))
    function, *values = [evaluate(item, scope) for item in x]
    return function(*values)


def show(x):
    return "(" + " ".join(map(show, x)) + ")" if isinstance(x, list) else str(x)


top = Scope()
top.update({
    "+": op.add, "-": op.sub, "*": op.mul, "<": op.lt, "=": op.eq, "mod": op.mod,
    "cons": lambda a, b: [a] + b, "car": lambda x: x[0], "cdr": lambda x: x[1:],
    "null?": lambda x: x == [], "list": lambda *x: list(x), "max": max, "sqrt": math.isqrt,
})
stream = tokens(sys.stdin.read())
while stream:
    try:
        value = evaluate(read(stream), top)
        if value is not None:
            print(show(value))
    except NameError as error:
        print("error:", error)
