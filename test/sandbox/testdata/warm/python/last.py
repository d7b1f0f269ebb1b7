# with: {"args": ["a"]}
import atexit, json, random, sys, threading, time

def last():
    import math, string
    print("last", math.pi, string.digits, sorted(sys.modules) == known, json.dumps(sys.argv), file=sys.stderr)

class Module(type(sys)):
    def __getattr__(self, name):
        return name

def forever():
    while True:
        time.sleep(0.001)

sys.modules["math"] = __import__("math")
sys.modules["heapq"] = Module("heapq")
sys.modules["mine"] = Module("mine")
__import__("string"), __import__("math")
known = sorted(sys.modules)
atexit.register(last)
threading.Thread(target=forever, daemon=True).start()
sys.stdout.write("not flushed")
random.seed(len(sys.argv))
print(random.random(), __import__("heapq").merge)
sys.exit(len(sys.argv) + 4)
