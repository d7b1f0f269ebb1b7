class Watch:
    # What the tree does not show is seen when it happens. A function around
    # __import__ would stand in every traceback, so there is none: the object in its
    # place hands out the real one each time that it is called, after a look at who
    # calls. Python's own modules and those that are installed may import anything.
    def __init__(self, policy):
        self.policy, self.frame = policy, sys._getframe
        self.library = os.path.dirname(os.__file__) + "/"
        self.above = {name[:i] for name in policy.blocked for i in range(len(name)) if name[i] == "."}
        self.kinds = {policy.here + "/sitecustomize.py": False}
        exec("import sys", {"__builtins__": {"__import__": self.probe}})
        watch, builtins, importlib = self, sys.modules["builtins"], sys.modules["_frozen_importlib"]
        self.real, self.find = builtins.__import__, importlib._gcd_import

        def __import__(name, globals=None, locals=None, fromlist=(), level=0):
            if not level:
                watch.note(name, fromlist)
            return watch.real(name, globals, locals, fromlist, level)

        self.checked = __import__
        builtins.__import__ = self.stand_in(self.real, self.statement)
        importlib._gcd_import = self.stand_in(self.find, self.module)

    def probe(self, *args):
        frame = self.frame(1)
        self.opcode = frame.f_code.co_code[frame.f_lasti]

    def stand_in(self, function, look):
        class Call:
            def __get__(self, holder, kind):
                try:
                    return look()
                except RecursionError:  # which is the program's, and has no place for us
                    return function

        class Function:
            __call__ = Call()
            __repr__ = lambda self: repr(function)
            __getattr__ = lambda self, name: getattr(function, name)

        return Function()

    def own(self, frame):
        while frame:
            name = frame.f_code.co_filename
            if name[:1] != "<":
                if name not in self.kinds:
                    self.kinds[name] = not (name.startswith(self.library) or "/site-packages/" in name or "/dist-packages/" in name)
                return self.kinds[name]
            if name[:7] == "<frozen":
                return False
            frame = frame.f_back  # of exec and eval: whose is it?

    def statement(self):
        try:
            frame = self.frame(2)
        except ValueError:  # the interpreter itself, as when it prints a traceback
            return self.real
        if not self.own(frame):
            return self.real
        code, at = frame.f_code, frame.f_lasti
        if at < 0 or code.co_code[at] != self.opcode:
            return self.checked  # __import__ by name
        for name in code.co_names[code.co_code[at + 1]::256]:
            found = self.policy.match(name)
            if found and found not in self.policy.seen or name in self.above:
                self.operands(code, at)
                break
        return self.real

    def operands(self, code, at):
        from dis import get_instructions
        before = []
        for i in get_instructions(code):
            if i.offset == at:
                if not before[-2].argval:  # the level of relative imports
                    self.note(i.argval, before[-1].argval)
                return
            if i.opname != "EXTENDED_ARG":
                before.append(i)

    def module(self):
        frame = self.frame(2)
        if frame.f_code.co_name in ("import_module", "__import__") and self.own(frame.f_back):
            local = frame.f_locals
            name = local.get("name")
            if not local.get("level") and not (isinstance(name, str) and name[:1] == "."):
                self.note(name)
        return self.find

    def note(self, name, members=()):
        if not isinstance(name, str):
            return
        for full in [name] + [name + "." + m for m in members or () if isinstance(m, str)]:
            found = self.policy.match(full)
            if found and found not in self.policy.seen:
                self.policy.seen.add(found)
                self.policy.report("d", found)
                if self.policy.mode == "block":
                    self.stop()

    def stop(self):
        for stream in sys.stdout, sys.stderr:
            try:
                stream.flush()
            except Exception:
                pass
        os._exit(126)


