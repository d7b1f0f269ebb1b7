"""Finds its plugins in a package and runs the text on standard input through them."""
import importlib
import pkgutil
import sys

import filters


def discover():
    found = {}
    for module in sorted(pkgutil.iter_modules(filters.__path__), key=lambda m: m.name):
        loaded = importlib.import_module(f"filters.{module.name}")
        found[loaded.NAME] = loaded.apply
    return found


plugins = discover()
print("plugins:", ", ".join(plugins))
text = sys.stdin.read().rstrip("\n")
for argument in sys.argv[1:]:
    for name in argument.split("+"):
        if name not in plugins:
            print(f"no plugin called {name!r}", file=sys.stderr)
            sys.exit(4)
    result = text
    for name in argument.split("+"):
        result = plugins[name](result)
    print(f"--- {argument}")
    print(result)
