import re

TOKEN = re.compile(r"({{.*?}}|{%.*?%})")


def tokens(source):
    for piece in TOKEN.split(source):
        if piece.startswith("{{"):
            yield "value", piece[2:-2].strip()
        elif piece.startswith("{%"):
            yield "tag", piece[2:-2].split()
        elif piece:
            yield "text", piece
