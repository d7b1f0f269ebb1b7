from .core import Machine, Refused

__all__ = ["Machine", "Refused"]
