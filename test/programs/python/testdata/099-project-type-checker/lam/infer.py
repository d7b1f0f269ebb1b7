import itertools


class TypeFailure(Exception):
    pass


class Variable:
    def __init__(self):
        self.link = None


def prune(t):
    while isinstance(t, Variable) and t.link is not None:
        t = t.link
    return t


def arrow(a, *rest):
    return ("->", a, arrow(*rest)) if rest else a


def occurs(variable, t):
    t = prune(t)
    return t is variable or isinstance(t, tuple) and any(occurs(variable, part) for part in t[1:])


def unify(a, b):
    a, b = prune(a), prune(b)
    if a is b:
        return
    if isinstance(a, Variable):
        if occurs(a, b):
            raise TypeFailure("infinite type")
        a.link = b
    elif isinstance(b, Variable):
        unify(b, a)
    elif isinstance(a, tuple) and isinstance(b, tuple):
        unify(a[1], b[1])
        unify(a[2], b[2])
    elif a != b:
        raise TypeFailure(f"{show(a)} is not {show(b)}")


def fresh(t, copies, fixed):
    t = prune(t)
    if isinstance(t, Variable):
        return t if any(occurs(t, f) for f in fixed) else copies.setdefault(t, Variable())
    return (t[0], fresh(t[1], copies, fixed), fresh(t[2], copies, fixed)) if isinstance(t, tuple) else t


BUILTINS = {"add": arrow("int", "int", "int"), "less": arrow("int", "int", "bool")}


def infer(node, scope=None, fixed=()):
    scope = BUILTINS if scope is None else scope
    kind = node[0]
    if kind == "number":
        return "int"
    if kind == "variable":
        if node[1] not in scope:
            raise TypeFailure(f"{node[1]} is not defined")
        return fresh(scope[node[1]], {}, fixed)
    if kind == "lambda":
        parameter = Variable()
        return arrow(parameter, infer(node[2], {**scope, node[1]: parameter}, fixed + (parameter,)))
    if kind == "apply":
        result = Variable()
        unify(infer(node[1], scope, fixed), arrow(infer(node[2], scope, fixed), result))
        return result
    if kind == "let":
        return infer(node[3], {**scope, node[1]: infer(node[2], scope, fixed)}, fixed)
    unify(infer(node[1], scope, fixed), "bool")
    yes = infer(node[2], scope, fixed)
    unify(yes, infer(node[3], scope, fixed))
    return yes


def show(t):
    names, letters = {}, itertools.chain("αβγδε")

    def text(t):
        t = prune(t)
        if isinstance(t, Variable):
            return names.setdefault(t, None) or names.update({t: next(letters)}) or names[t]
        if isinstance(t, tuple):
            left = text(t[1])
            return (f"({left})" if isinstance(prune(t[1]), tuple) else left) + " → " + text(t[2])
        return t

    return text(t)
