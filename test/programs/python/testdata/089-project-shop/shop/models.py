from dataclasses import dataclass, field


@dataclass(frozen=True)
class Product:
    code: str
    name: str
    cents: int


@dataclass
class Cart:
    lines: dict = field(default_factory=dict)

    def add(self, product, pieces):
        if pieces < 1:
            raise ValueError(f"{pieces} pieces of {product.name}")
        self.lines[product] = self.lines.get(product, 0) + pieces

    @property
    def total(self):
        return sum(product.cents * pieces for product, pieces in self.lines.items())
