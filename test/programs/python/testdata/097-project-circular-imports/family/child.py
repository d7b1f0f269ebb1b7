from .parent import Parent


class Child:
    def __init__(self, name, parent: Parent):
        self.name, self.parent = name, parent
        parent.children.append(self)

    def describe(self):
        return f"{self.name} is a child of {self.parent.name}"

    def siblings(self):
        return [other.name for other in self.parent.children if other is not self]
