import html

from .errors import TemplateError

FILTERS = {
    "upper": lambda value: str(value).upper(),
    "length": len,
    "escape": html.escape,
    "pad": lambda value, width: str(value).ljust(int(width)),
}


def lookup(path, context):
    value = context
    for name in path.split("."):
        try:
            value = value[name]
        except (KeyError, TypeError):
            raise TemplateError(f"{path} is not there") from None
    return value


def evaluate(expression, context):
    path, *filters = (part.strip() for part in expression.split("|"))
    value = lookup(path, context)
    for call in filters:
        name, *arguments = call.split(":")
        if name not in FILTERS:
            raise TemplateError(f"no filter {name!r}")
        value = FILTERS[name](value, *arguments)
    return value


def render(nodes, context):
    out = []
    for kind, *parts in nodes:
        if kind == "text":
            out.append(parts[0])
        elif kind == "value":
            out.append(str(evaluate(parts[0], context)))
        elif kind == "for":
            name, path, body = parts
            out += [render(body, {**context, name: item}) for item in lookup(path, context)]
        else:
            condition, yes, no = parts
            out.append(render(yes if lookup(condition, context) else no, context))
    return "".join(out)
