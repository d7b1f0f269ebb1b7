import re

WORDS = re.compile(r"\\|\.|\(|\)|=|\d+|[^\W\d]\w*")
KEYWORDS = {"let", "in", "if", "then", "else"}


def parse(source):
    stream = WORDS.findall(source) + [""]

    def expect(word):
        if stream[0] != word:
            raise SyntaxError(f"expected {word!r}, found {stream[0]!r}")
        stream.pop(0)

    def name():
        if not stream[0].isidentifier() or stream[0] in KEYWORDS:
            raise SyntaxError(f"expected a name, found {stream[0]!r}")
        return stream.pop(0)

    def expression():
        if stream[0] == "\\":
            stream.pop(0)
            parameter = name()
            expect(".")
            return ("lambda", parameter, expression())
        if stream[0] == "let":
            stream.pop(0)
            variable = name()
            expect("=")
            value = expression()
            expect("in")
            return ("let", variable, value, expression())
        if stream[0] == "if":
            parts = []
            for word in ("if", "then", "else"):
                expect(word)
                parts.append(expression())
            return ("if", *parts)
        node = atom()
        while stream[0] and stream[0] not in KEYWORDS | {")", "=", "."}:
            node = ("apply", node, atom())
        return node

    def atom():
        if stream[0] == "(":
            stream.pop(0)
            node = expression()
            expect(")")
            return node
        if stream[0].isdigit():
            return ("number", int(stream.pop(0)))
        return ("variable", name())

    tree = expression()
    expect("")
    return tree
