import doctest
import unittest
from unittest import mock

import stack
from stack import Empty, Stack


class StackTest(unittest.TestCase):
    def setUp(self):
        self.stack = Stack("ab")

    def test_last_in_first_out(self):
        self.assertEqual([self.stack.pop(), self.stack.pop()], ["b", "a"])

    def test_empty(self):
        with self.assertRaisesRegex(Empty, "nothing"):
            Stack().pop()

    def test_length(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(len(Stack(range(n))), n)

    def test_wrong_on_purpose(self):
        self.assertEqual(self.stack.pop(), "a", "the last one comes first")

    @unittest.expectedFailure
    def test_known_gap(self):
        self.stack.peek()

    @unittest.skip("shown as skipped")
    def test_skipped(self):
        self.fail("never run")

    def test_mock(self):
        with mock.patch.object(Stack, "pop", side_effect=Empty("mocked")) as pop:
            self.assertRaises(Empty, self.stack.pop)
        pop.assert_called_once_with()

    def test_documentation(self):
        self.assertEqual(doctest.testmod(stack).failed, 0)
