"""Shortest routes between towns, with the path that was taken."""
import heapq
from collections import defaultdict

ROADS = """
Ulm Augsburg 80
Ulm Stuttgart 95
Augsburg Munich 65
Munich Nuremberg 170
Stuttgart Nuremberg 210
Stuttgart Karlsruhe 80
Karlsruhe Frankfurt 140
Nuremberg Frankfurt 225
Nuremberg Leipzig 280
Frankfurt Leipzig 390
"""


def parse(text):
    graph = defaultdict(dict)
    for line in text.split("\n"):
        if line:
            a, b, km = line.split()
            graph[a][b] = graph[b][a] = int(km)
    return graph


def shortest(graph, start):
    distance, previous = {start: 0}, {}
    queue = [(0, start)]
    while queue:
        so_far, town = heapq.heappop(queue)
        if so_far > distance[town]:
            continue
        for neighbour, km in graph[town].items():
            total = so_far + km
            if total < distance.get(neighbour, float("inf")):
                distance[neighbour], previous[neighbour] = total, town
                heapq.heappush(queue, (total, neighbour))
    return distance, previous


def route(previous, town):
    path = [town]
    while path[-1] in previous:
        path.append(previous[path[-1]])
    return " > ".join(reversed(path))


graph = parse(ROADS)
distance, previous = shortest(graph, "Ulm")
for town in sorted(distance, key=distance.get):
    print(f"{distance[town]:4} km  {route(previous, town)}")
