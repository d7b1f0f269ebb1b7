"""A traffic light and a vending machine on one generic state machine."""
from machines import light, vending

for module in (light, vending):
    machine = module.build()
    print(module.__name__, "starts", machine.state.name)
    for event in module.EVENTS:
        before = machine.state.name
        outcome = machine.send(event)
        print(f"  {event:8} {before:>8} -> {machine.state.name:8} {outcome or ''}".rstrip())
    print("  history:", machine.history())
