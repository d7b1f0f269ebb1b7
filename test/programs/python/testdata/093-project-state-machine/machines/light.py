from enum import Enum

from . import Machine

Light = Enum("Light", "RED GREEN YELLOW BLINKING")
EVENTS = ["tick", "tick", "tick", "fault", "tick", "reset", "tick"]


def build():
    table = {
        (Light.RED, "tick"): (Light.GREEN, None),
        (Light.GREEN, "tick"): (Light.YELLOW, None),
        (Light.YELLOW, "tick"): (Light.RED, None),
        (Light.BLINKING, "reset"): (Light.RED, lambda: "all clear"),
    }
    table.update({(light, "fault"): (Light.BLINKING, lambda: "careful!") for light in Light})
    return Machine(Light.RED, table)
