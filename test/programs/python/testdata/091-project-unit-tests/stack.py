class Empty(Exception):
    pass


class Stack:
    """A stack.

    >>> s = Stack([1, 2])
    >>> s.pop()
    2
    """

    def __init__(self, items=()):
        self._items = list(items)

    def push(self, item):
        self._items.append(item)
        return self

    def pop(self):
        if not self._items:
            raise Empty("nothing to pop")
        return self._items.pop()

    def __len__(self):
        return len(self._items)
