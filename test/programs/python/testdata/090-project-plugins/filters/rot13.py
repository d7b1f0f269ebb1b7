import codecs

NAME = "rot13"


def apply(text):
    return codecs.encode(text, "rot13")
