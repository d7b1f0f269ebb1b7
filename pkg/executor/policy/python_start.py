# This and the other two run in Python's own start, as its sitecustomize, before the
# program; see python.go, which puts them together. They must leave no trace: what
# the program sees is what it would see without them.
import os, sys


class Policy:
    def __init__(self, here, blocked, mode, nonce, copy):
        self.here, self.blocked, self.mode, self.nonce = here, blocked, mode, nonce
        self.seen = set()
        # A program that is to be stopped may close or redirect its own.
        self.out = os.dup2(2, copy, False) if mode == "block" else 2

    def report(self, kind, *records):
        data = b"\x1e" + (self.nonce + kind + "\x1f".join(records)).encode("utf-8", "replace") + b"\x1e"
        try:
            while data:
                data = data[os.write(self.out, data):]
        except OSError:
            pass  # nobody is there

    def match(self, name):
        while name and name not in self.blocked:
            name = name.rpartition(".")[0]
        return name

    def vanish(self):
        here = self.here
        rest = os.environ.pop("PYTHONPATH", "").partition(":")[2]
        if rest:
            os.environ["PYTHONPATH"] = rest
        while here in sys.path:
            sys.path.remove(here)
        sys.path_importer_cache.pop(here, None)
        for name in os.listdir(here):
            os.unlink(here + "/" + name)
        os.rmdir(here)


