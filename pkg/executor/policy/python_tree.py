class Reader:
    # What the syntax tree shows is known before anything runs.
    def __init__(self, policy):
        self.policy, self.found, self.listed, self.faults = policy, set(), [], []

    def tree(self, source, name):
        from _warnings import filters
        quiet = ("ignore", None, Warning, None, 0)
        filters.insert(0, quiet)  # they are said when the program is compiled
        try:
            return compile(source, name, "exec", 0x400, True)  # PyCF_ONLY_AST
        finally:
            filters.remove(quiet)

    def statements(self, tree):
        stack = [tree]
        while stack:
            node = stack.pop()
            yield node
            for field in "handlers", "cases", "finalbody", "orelse", "body":
                stack += reversed(getattr(node, field, ()))

    def read(self, name, source):
        for node in self.statements(self.tree(source, name)):
            kind = type(node).__name__
            if kind == "Import":
                for alias in node.names:
                    self.add(name, node, alias.name, [alias.name])
            elif kind == "ImportFrom" and not node.level:
                self.add(name, node, node.module, [node.module + "." + alias.name for alias in node.names])

    def add(self, name, node, module, members):
        self.listed.append("\x1d".join((module, name, str(node.lineno))))
        self.found.update(filter(None, map(self.policy.match, members)))

    def files(self, names):
        for name in names:
            self.file(os.path.dirname(self.policy.here), name)
        self.tell()

    def file(self, root, name):
        try:
            with open(root + "/" + name, "rb") as f:
                self.read(name, f.read())
        except SyntaxError as e:
            self.faults.append("%s (%s, line %s)" % (e.msg, name, e.lineno))
        except Exception as e:  # it is too deep for a tree; what runs is watched
            self.faults.append("%s: %s: %s" % (name, type(e).__name__, e))

    def tell(self):
        policy = self.policy
        policy.seen |= self.found
        if policy.mode == "check":
            policy.report("e", *self.faults)
            policy.report("i", *self.listed)
        policy.report("s", *sorted(self.found))
        if policy.mode == "check" or self.found and policy.mode == "block":
            os._exit(126 if self.found else 0)


