"""A JSON parser from scratch that agrees with the library's and reports positions."""
import json
import re

NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")
ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class Parser:
    def __init__(self, text):
        self.text, self.at = text, 0

    def fail(self, what):
        raise ValueError(f"{what} at {self.at}")

    def peek(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1
        return self.text[self.at : self.at + 1]

    def expect(self, token):
        if self.peek() != token:
            self.fail(f"expected {token!r}")
        self.at += 1

    def value(self):
        c = self.peek()
        if c == "{":
            return dict(self.items("}", self.pair))
        if c == "[":
            return list(self.items("]", self.value))
        if c == '"':
            return self.string()
        for word, constant in (("true", True), ("false", False), ("null", None)):
            if self.text.startswith(word, self.at):
                self.at += len(word)
                return constant
        match = NUMBER.match(self.text, self.at)
        if not match:
            self.fail("expected a value")
        self.at = match.end()
        return float(match[0]) if match[2] or match[3] else int(match[0])

    def items(self, end, item):
        self.at += 1
        if self.peek() != end:
            yield item()
            while self.peek() == ",":
                self.at += 1
                yield item()
        self.expect(end)

    def pair(self):
        if self.peek() != '"':
            self.fail("expected a name")
        name = self.string()
        self.expect(":")
        return name, self.value()

    def string(self):
        self.at += 1
        out = []
        while (c := self.text[self.at : self.at + 1]) != '"':
            if c == "" or c < " ":
                self.fail("unfinished string")
            self.at += 1
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                if c == "u":
                    c = chr(int(self.text[self.at : self.at + 4], 16))
                    self.at += 4
                else:
                    c = ESCAPES[c]
            out.append(c)
        self.at += 1
        return "".join(out).encode("utf-16", "surrogatepass").decode("utf-16")


def loads(text):
    parser = Parser(text)
    value = parser.value()
    if parser.peek():
        parser.fail("unexpected text")
    return value


document = r'{"a": [1, -2.5e3, true, null, {}], "ü": "\u00e9\n\ud83e\udd80 🦀", "deep": [[[[]]]], "": ""}'
print(loads(document))
print("as the library:", loads(document) == json.loads(document))
for bad in ('{"a" 1}', "[1 2]", '"abc', "{1: 2}", "[1] x", "", "[,]"):
    try:
        print(loads(bad))
    except ValueError as error:
        print(f"{bad!r}: {error}")
