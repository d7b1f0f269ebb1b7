NAME = "reverse"


def apply(text):
    return "\n".join(line[::-1] for line in text.splitlines())
