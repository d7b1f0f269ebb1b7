from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .child import Child


class Parent:
    def __init__(self, name: str):
        self.name = name
        self.children: list[Child] = []

    def describe(self):
        from .child import Child
        assert all(isinstance(child, Child) for child in self.children)
        return f"{self.name} has {len(self.children)} children"

    def archive(self):
        from .archive import record
        return record(self)
