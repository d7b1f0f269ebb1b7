"""Modules that need each other, relative imports, a namespace package, a lazy import."""
import sys

from family import Child, Parent
from space.near import moon
from space.far import nebula

anna = Parent("Ånna")
bea = Child("Bea", anna)
cem = Child("Cem", anna)
print(anna.describe())
print(bea.describe(), "|", cem.siblings())
print(moon.NAME, nebula.neighbour())
print("lazy before:", "family.archive" in sys.modules)
print(anna.archive())
print("lazy after:", "family.archive" in sys.modules)
print(sorted(name for name in sys.modules if name.startswith(("family", "space"))))
try:
    import family.nothing  # noqa: F401
except ModuleNotFoundError as error:
    print(error.name, "is missing")
