import io, sys
from typing import List

class Node:
    def __init__(self, value):
        self.value = value

wrapped = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")

def show(nodes: List[Node]):
    print([node.value for node in nodes], file=wrapped)

show([Node(1)])
