"""Shapes with dataclasses, protocols, enumerations and a sum type by isinstance."""
import enum
import math
from dataclasses import dataclass, field, replace
from typing import List, Protocol


class Colour(enum.Enum):
    RED = "#f00"
    GREEN = "#0f0"

    @property
    def channels(self):
        return tuple(int(digit, 16) * 17 for digit in self.value[1:])


class Access(enum.IntFlag):
    READ = 4
    WRITE = 2
    RUN = 1


class Shape(Protocol):
    def area(self) -> float: ...


@dataclass(frozen=True, order=True)
class Circle:
    radius: float
    colour: Colour = field(default=Colour.RED, compare=False)

    def area(self) -> float:
        return math.pi * self.radius**2


@dataclass(frozen=True)
class Polygon:
    corners: tuple

    def __post_init__(self):
        if len(self.corners) < 3:
            raise ValueError(f"{len(self.corners)} corners are too few")

    def area(self) -> float:
        pairs = zip(self.corners, self.corners[1:] + self.corners[:1])
        return abs(sum(a * d - b * c for (a, b), (c, d) in pairs)) / 2


def total(shapes: List[Shape]) -> float:
    return math.fsum(shape.area() for shape in shapes)


triangle = Polygon(((0, 0), (4, 0), (0, 3)))
circles = [Circle(2.0), Circle(0.5, Colour.GREEN), Circle(1.0)]
print(f"{total(circles + [triangle]):.6f}")
print([c.radius for c in sorted(circles)], max(circles).colour.name, Circle(1.0) == Circle(1.0, Colour.GREEN))
print(replace(circles[0], radius=9.0).radius, len({Circle(1.0), Circle(1.0)}), Colour.GREEN.channels)
for attempt in (lambda: Polygon(((0, 0),)), lambda: setattr(circles[0], "radius", 1)):
    try:
        attempt()
    except (ValueError, AttributeError) as error:
        print(type(error).__name__, error)
mode = Access.READ | Access.RUN
print(int(mode), Access.WRITE in mode, [a.name for a in Access if a in mode], Colour("#0f0").name, list(Colour.__members__))
