from .parent import Parent
from .child import Child

__all__ = ["Parent", "Child"]
