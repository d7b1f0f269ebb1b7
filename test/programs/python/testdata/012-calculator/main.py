"""A recursive-descent calculator that reads one expression a line."""
import math
import re
import sys

TOKEN = re.compile(r"\s*(?:(\d+\.?\d*)|([a-z]+)|(\*\*|[-+*/%()]))")


def tokenize(text):
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        if not match:
            raise SyntaxError(f"unexpected {text[position:].strip()[0]!r} at column {position + 1}")
        position = match.end()
        yield match.group(match.lastindex)
    yield None


class Parser:
    names = {"pi": math.pi, "e": math.e}
    functions = {"sqrt": math.sqrt, "abs": abs, "ln": math.log}

    def __init__(self, text):
        self.tokens = list(tokenize(text))

    def take(self, *wanted):
        if self.tokens[0] in wanted:
            return self.tokens.pop(0)

    def expression(self):
        value = self.term()
        while (operator := self.take("+", "-")):
            right = self.term()
            value = value + right if operator == "+" else value - right
        return value

    def term(self):
        value = self.factor()
        while (operator := self.take("*", "/", "%")):
            right = self.factor()
            value = value * right if operator == "*" else value / right if operator == "/" else value % right
        return value

    def factor(self):
        if self.take("-"):
            return -self.factor()
        base = self.atom()
        return base ** self.factor() if self.take("**") else base

    def atom(self):
        token = self.tokens.pop(0)
        if token == "(":
            value = self.expression()
            if not self.take(")"):
                raise SyntaxError("missing )")
            return value
        if token in self.functions:
            return self.functions[token](self.atom())
        if token in self.names:
            return self.names[token]
        if token is None or not token[0].isdigit():
            raise SyntaxError(f"unexpected {token or 'end'}")
        return float(token) if "." in token else int(token)

    def result(self):
        value = self.expression()
        if self.tokens != [None]:
            raise SyntaxError(f"unexpected {self.tokens[0]}")
        return value


for line in sys.stdin:
    try:
        print(line.strip(), "=", Parser(line).result())
    except (SyntaxError, ArithmeticError, ValueError) as error:
        print(line.strip(), "!", error)
