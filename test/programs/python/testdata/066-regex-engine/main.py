"""A matcher for regular expressions by Thompson's construction, checked against re."""
import re
from itertools import product


def parse(pattern):
    """Grammar: alternation of sequences of repeated atoms; gives nested tuples."""
    position = 0

    def peek():
        return pattern[position] if position < len(pattern) else ""

    def advance():
        nonlocal position
        position += 1
        return pattern[position - 1]

    def alternation():
        node = sequence()
        while peek() == "|":
            advance()
            node = ("or", node, sequence())
        return node

    def sequence():
        node = ("empty",)
        while peek() and peek() not in "|)":
            node = ("then", node, repeated())
        return node

    def repeated():
        node = atom()
        while peek() and peek() in "*+?":
            node = (advance(), node)
        return node

    def atom():
        c = advance()
        if c == "(":
            node = alternation()
            if not peek():
                raise ValueError("missing )")
            advance()
            return node
        return ("any",) if c == "." else ("char", c)

    return alternation()


def build(node, out, states):
    """Adds states for node that lead to state out; returns the entry."""
    def state(*entry):
        states.append(entry)
        return len(states) - 1

    kind = node[0]
    if kind == "empty":
        return out
    if kind in ("char", "any"):
        return state(node[1] if kind == "char" else None, out)
    if kind == "then":
        return build(node[1], build(node[2], out, states), states)
    if kind == "or":
        return state("split", build(node[1], out, states), build(node[2], out, states), 0)
    if kind == "?":
        return state("split", build(node[1], out, states), out, 0)
    loop = state()
    body = build(node[1], loop, states)
    states[loop] = ("split", body, out, 0)
    return loop if kind == "*" else body


def matches(pattern, text):
    states = [("accept",)]
    start = build(parse(pattern), 0, states)

    def close(found):
        seen, stack = set(), list(found)
        while stack:
            i = stack.pop()
            if i not in seen:
                seen.add(i)
                if states[i][0] == "split" and len(states[i]) == 4:
                    stack += states[i][1:3]
        return seen

    current = close({start})
    for c in text:
        current = close({s[1] for s in map(states.__getitem__, current) if len(s) == 2 and s[0] in (None, c)})
    return 0 in current


for pattern in ("a(b|c)*a?", "(ab)+c?|.", "a?a?a?aaa", "(a*b)*", "a|b|", "(é|🦀)+"):
    texts = ["".join(t) for n in range(5) for t in product("abc", repeat=n)] + ["éé🦀", "🦀x"]
    mine = [t for t in texts if matches(pattern, t)]
    same = mine == [t for t in texts if re.fullmatch(pattern, t)]
    print(f"{pattern:12} matches {len(mine):3} of {len(texts)}, as re does: {same}, such as {mine[-3:]}")
print("no blow-up:", matches("a?" * 25 + "a" * 25, "a" * 25))
