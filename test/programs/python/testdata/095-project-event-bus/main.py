"""Events with subscribers in modules of their own; loads them by name and order."""
from importlib import import_module

from bus import Bus

bus = Bus()
for name in ("audit", "stock", "mail"):
    import_module(f"handlers.{name}").register(bus)

bus.publish("ordered", item="🦀 crab", pieces=2)
bus.publish("ordered", item="egg", pieces=20)
bus.publish("cancelled", item="egg")
bus.publish("unknown")
print("errors:", bus.errors)
print("log:", import_module("handlers.audit").LOG)
