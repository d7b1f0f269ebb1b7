import gc, sys, weakref

print(gc.get_freeze_count() > 0, gc.isenabled(), gc.get_threshold(), "gc" in sys.modules, any(o is sys for o in gc.get_objects()) or any(o is sys.__dict__ for o in gc.get_objects()))

class Noted:
    def __init__(self, name):
        self.name = name
    def __del__(self):
        print("gone", self.name, sys is not None)

a, b, c = Noted("a"), Noted("b"), Noted("c")
b.me = b
c.sees = sys.modules
weakref.finalize(a, print, "finalized")
sys.mine = Noted("of sys")
weakref.mine = Noted("of a module")
del a
