from .errors import TemplateError
from .parser import parse
from .render import render


class Template:
    def __init__(self, source):
        self.source = source

    def render(self, context):
        return render(parse(self.source), context)


__all__ = ["Template", "TemplateError"]
