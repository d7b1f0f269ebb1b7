from enum import Enum

from . import Machine, Refused

State = Enum("State", "IDLE PAID")
EVENTS = ["press", "coin", "press", "coin", "coin", "press", "coin", "press", "coin", "refill", "coin"]


class Stock:
    def __init__(self, cans):
        self.cans = cans

    def vend(self):
        if self.cans == 0:
            raise Refused("sold out, take your coin back")
        self.cans -= 1
        return f"a can, {self.cans} left"

    def refill(self):
        self.cans = 5
        return "refilled"


def build():
    stock = Stock(2)
    return Machine(State.IDLE, {
        (State.IDLE, "coin"): (State.PAID, None),
        (State.PAID, "press"): (State.IDLE, stock.vend),
        (State.PAID, "refill"): (State.PAID, stock.refill),
        (State.IDLE, "refill"): (State.IDLE, stock.refill),
    })
