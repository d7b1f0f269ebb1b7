import atexit, sys, threading

class Leaving:
    def __init__(self, name):
        self.name = name
    def __enter__(self):
        return self
    def __exit__(self, *why):
        print("left", self.name, why[0], sys is not None, Leaving is not None)

class Cycle:
    def __init__(self, name):
        self.me, self.left = self, leaving(name)
        next(self.left)

def leaving(name):
    with Leaving(name):
        yield

alone = leaving("alone")
next(alone)
cycle = Cycle("cycle")
sys.mine = Cycle("of sys")
threading.mine = leaving("of a module")
next(threading.mine)
forgotten = open("forgotten.txt", "w")
forgotten.write("written when the file is closed")
atexit.register(print, "at exit")
thread = threading.Thread(target=print, args=("in a thread",))
thread.start()
thread.join()
print(sorted(name for name in globals()))
print(__annotations__ if "__annotations__" in globals() else None, __builtins__, __loader__.__class__.__name__, __spec__, __doc__, __package__, vars(sys.modules["__main__"]) is globals(), list(globals())[:9])
