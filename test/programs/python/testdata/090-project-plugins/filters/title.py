NAME = "title"


def apply(text):
    return text.title()
