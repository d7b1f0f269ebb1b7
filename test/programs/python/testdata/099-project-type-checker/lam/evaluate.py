BUILTINS = {"add": lambda a: lambda b: a + b, "less": lambda a: lambda b: a < b}


def evaluate(node, scope):
    kind = node[0]
    if kind == "number":
        return node[1]
    if kind == "variable":
        return scope.get(node[1]) if node[1] in scope else BUILTINS[node[1]]
    if kind == "lambda":
        return lambda value: evaluate(node[2], {**scope, node[1]: value})
    if kind == "apply":
        return evaluate(node[1], scope)(evaluate(node[2], scope))
    if kind == "let":
        return evaluate(node[3], {**scope, node[1]: evaluate(node[2], scope)})
    return evaluate(node[2] if evaluate(node[1], scope) else node[3], scope)
