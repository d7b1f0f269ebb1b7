import json, sys, threading

class Leaving:
    def __enter__(self):
        return self
    def __exit__(self, *why):
        print("left", why[0], sys is not None)

def leaving():
    with Leaving():
        yield

for module in json, sys, threading:
    module.mine = leaving()
    next(module.mine)
