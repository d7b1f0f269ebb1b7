"""A balanced search tree that keeps its height logarithmic, with range queries."""


class Node:
    __slots__ = ("key", "left", "right", "height")

    def __init__(self, key):
        self.key, self.left, self.right, self.height = key, None, None, 1


def height(node):
    return node.height if node else 0


def rotate(node, heavy, light):
    child = getattr(node, heavy)
    setattr(node, heavy, getattr(child, light))
    setattr(child, light, update(node))
    return update(child)


def update(node):
    node.height = 1 + max(height(node.left), height(node.right))
    return node


def balance(node):
    update(node)
    lean = height(node.left) - height(node.right)
    if abs(lean) < 2:
        return node
    heavy, light = ("left", "right") if lean > 0 else ("right", "left")
    child = getattr(node, heavy)
    if height(getattr(child, light)) > height(getattr(child, heavy)):
        setattr(node, heavy, rotate(child, light, heavy))
    return rotate(node, heavy, light)


def insert(node, key):
    if node is None:
        return Node(key)
    if key != node.key:
        side = "left" if key < node.key else "right"
        setattr(node, side, insert(getattr(node, side), key))
    return balance(node)


def delete(node, key):
    if node is None:
        return None
    if key != node.key:
        side = "left" if key < node.key else "right"
        setattr(node, side, delete(getattr(node, side), key))
    elif node.left is None or node.right is None:
        return node.left or node.right
    else:
        successor = node.right
        while successor.left:
            successor = successor.left
        node.key, node.right = successor.key, delete(node.right, successor.key)
    return balance(node)


def between(node, low, high):
    if node:
        if low < node.key:
            yield from between(node.left, low, high)
        if low <= node.key <= high:
            yield node.key
        if node.key < high:
            yield from between(node.right, low, high)


def sketch(node, depth=0):
    if node:
        sketch(node.right, depth + 1)
        print("    " * depth + str(node.key))
        sketch(node.left, depth + 1)


root = None
for key in range(1, 13):
    root = insert(root, key)
sketch(root)
print("height of 1..12:", height(root))
big = None
for i in range(2000):
    big = insert(big, i * 7919 % 2003)
print("height of 2000 keys:", height(big), "between 100 and 110:", list(between(big, 100, 110)))
for key in range(0, 2003, 2):
    big = delete(big, key)
print("after deletions:", height(big), list(between(big, 100, 110)), sum(1 for _ in between(big, 0, 3000)))
