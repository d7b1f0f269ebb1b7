"""Strong components, bridges, a bipartition and an Euler circuit."""
from collections import defaultdict, deque


def components(graph):
    """Tarjan's algorithm."""
    index, low, stack, found = {}, {}, [], []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in stack:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            at = stack.index(v)
            found.append(sorted(stack[at:]))
            del stack[at:]

    for v in sorted(graph):
        if v not in index:
            visit(v)
    return found


def undirected(edges):
    graph = defaultdict(list)
    for a, b in edges:
        graph[a].append(b)
        graph[b].append(a)
    return graph


def two_colours(graph):
    colour = {}
    for start in sorted(graph):
        queue = deque([start])
        colour.setdefault(start, 0)
        while queue:
            v = queue.popleft()
            for w in graph[v]:
                if w not in colour:
                    colour[w] = 1 - colour[v]
                    queue.append(w)
                elif colour[w] == colour[v]:
                    return None
    return ["".join(sorted(v for v in colour if colour[v] == c)) for c in (0, 1)]


def euler(edges):
    """Hierholzer's circuit; every degree must be even."""
    graph = undirected(edges)
    if any(len(around) % 2 for around in graph.values()):
        return None
    stack, circuit = [edges[0][0]], []
    while stack:
        v = stack[-1]
        if graph[v]:
            w = graph[v].pop()
            graph[w].remove(v)
            stack.append(w)
        else:
            circuit.append(stack.pop())
    return "".join(circuit)


def reachable(graph, start, seen=frozenset()):
    seen = seen | {start}
    for v in graph[start]:
        if v not in seen:
            seen = reachable(graph, v, seen)
    return seen


directed = {"a": "b", "b": "cef", "c": "dg", "d": "ch", "e": "af", "f": "g", "g": "fh", "h": "h"}
print("strong components:", components(directed))
square, triangle = ["ab", "bc", "cd", "da"], ["ab", "bc", "ca"]
print("bipartite:", two_colours(undirected(square)), two_colours(undirected(triangle)))
print("circuit:", euler(["ab", "bc", "ca", "cd", "de", "ec"]), euler(["ab", "bc"]))
print("reachable:", {v: "".join(sorted(reachable(directed, v))) for v in "acf"})
