from .errors import TemplateError
from .lexer import tokens


def parse(source):
    body, rest = _block(list(tokens(source)), 0, ())
    return body


def _block(stream, at, ends):
    """Parses up to one of the tags in ends; returns the nodes and where it stopped."""
    nodes = []
    while at < len(stream):
        kind, value = stream[at]
        if kind != "tag":
            nodes.append((kind, value))
            at += 1
            continue
        name = value[0]
        if name in ends:
            return nodes, at
        if name == "for":
            body, at = _block(stream, at + 1, ("end",))
            nodes.append(("for", value[1], value[3], body))
        elif name == "if":
            yes, at = _block(stream, at + 1, ("else", "end"))
            no = []
            if stream[at][1] == ["else"]:
                no, at = _block(stream, at + 1, ("end",))
            nodes.append(("if", value[1], yes, no))
        else:
            raise TemplateError(f"unexpected tag {name!r}")
        at += 1
    if ends:
        raise TemplateError(f"missing {' or '.join(ends)}")
    return nodes, at
