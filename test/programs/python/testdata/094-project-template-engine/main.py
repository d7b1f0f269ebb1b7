"""Renders pages with a small template language: lexer, parser, renderer."""
from engine import Template, TemplateError

PAGE = """<h1>{{ title | upper }}</h1>
{% for item in items %}{% if item.stock %}* {{ item.name | pad:12 }}{{ item.price }} €
{% else %}* {{ item.name | pad:12 }}sold out
{% end %}{% end %}{{ items | length }} items, {{ note | escape }}"""

print(Template(PAGE).render({
    "title": "Menü für 世界",
    "items": [
        {"name": "Crêpe", "price": 4.5, "stock": 3},
        {"name": "寿司", "price": 12, "stock": 0},
        {"name": "Borschtsch", "price": 6.2, "stock": 1},
    ],
    "note": "<b>open & friendly</b>",
}))
for broken in ("{% for x in y %}", "{{ a | nothing }}", "{% end %}", "{{ missing.name }}", "{% what %}"):
    try:
        print(Template(broken).render({"a": 1, "y": []}))
    except TemplateError as error:
        print(f"{broken}: {error}")
