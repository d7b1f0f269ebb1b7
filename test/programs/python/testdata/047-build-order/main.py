"""Topological order of tasks, layer by layer, and a cycle that is found and named."""
from graphlib import CycleError, TopologicalSorter

RECIPE = """
bake: shape proof
shape: knead
knead: mix
mix: flour water yeast salt
proof: shape
serve: bake slice butter
slice: bake
"""


def parse(text):
    graph = {}
    for line in text.strip().splitlines():
        target, _, needs = line.partition(":")
        graph[target] = needs.split()
    return graph


def layers(graph):
    sorter = TopologicalSorter(graph)
    sorter.prepare()
    while sorter.is_active():
        ready = sorted(sorter.get_ready())
        yield ready
        sorter.done(*ready)


def longest(graph, node):
    return [node] + max((longest(graph, n) for n in sorted(graph.get(node, []))), key=len, default=[])


graph = parse(RECIPE)
for number, layer in enumerate(layers(graph), 1):
    print(f"step {number}: {', '.join(layer)}")
print("critical path:", " < ".join(longest(graph, "serve")))
graph["flour"] = ["serve"]
try:
    list(layers(graph))
except CycleError as error:
    print("a cycle of", len(error.args[1]) - 1, "tasks, flour among them:", "flour" in error.args[1])
