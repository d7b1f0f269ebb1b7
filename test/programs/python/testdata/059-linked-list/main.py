"""A linked list as a Python sequence: iteration, reversal, merge sort, a cycle found."""


class Node:
    def __init__(self, value, next=None):
        self.value, self.next = value, next


class LinkedList:
    def __init__(self, values=()):
        self.head = None
        for value in reversed(list(values)):
            self.head = Node(value, self.head)

    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.next

    def __len__(self):
        return sum(1 for _ in self)

    def __getitem__(self, index):
        for position, value in enumerate(self):
            if position == index:
                return value
        raise IndexError(f"{index} is past the end")

    def __repr__(self):
        return " -> ".join(map(repr, self)) or "empty"

    def reverse(self):
        previous, node = None, self.head
        while node:
            node.next, previous, node = previous, node, node.next
        self.head = previous

    def sort(self):
        self.head = self._sort(self.head)

    def _sort(self, head):
        if head is None or head.next is None:
            return head
        slow, fast = head, head.next
        while fast and fast.next:
            slow, fast = slow.next, fast.next.next
        middle, slow.next = slow.next, None
        left, right = self._sort(head), self._sort(middle)
        tail = anchor = Node(None)
        while left and right:
            if right.value < left.value:
                tail.next, right = right, right.next
            else:
                tail.next, left = left, left.next
            tail = tail.next
        tail.next = left or right
        return anchor.next

    def has_cycle(self):
        slow = fast = self.head
        while fast and fast.next:
            slow, fast = slow.next, fast.next.next
            if slow is fast:
                return True
        return False


numbers = LinkedList([5, 2, 9, 1, 5, 6])
print(numbers, "length", len(numbers), "third", numbers[2])
numbers.reverse()
print(numbers)
numbers.sort()
print(numbers, "contains 9:", 9 in numbers, "sum", sum(numbers))
print(LinkedList(), "| cycle:", numbers.has_cycle())
node = numbers.head
while node.next:
    node = node.next
node.next = numbers.head.next
print("cycle after tying the ends:", numbers.has_cycle())
try:
    LinkedList("ab")[5]
except IndexError as error:
    print(error)
