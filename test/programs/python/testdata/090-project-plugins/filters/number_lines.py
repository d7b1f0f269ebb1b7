NAME = "number"


def apply(text):
    return "\n".join(f"{n}: {line}" for n, line in enumerate(text.splitlines(), 1))
