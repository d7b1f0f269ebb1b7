package org.example.tests;

import static org.example.testing.Assert.equal;

import java.util.NoSuchElementException;
import org.example.Stack;
import org.example.testing.Test;

public class StackTest {
    private final Stack<String> stack = new Stack<String>().push("a").push("ß");

    @Test void lastComesFirst() { equal("ß", stack.pop()); }

    @Test(expected = NoSuchElementException.class) void emptyRefuses() { new Stack<Integer>().pop(); }

    @Test(expected = NullPointerException.class) void forgetsToThrow() { stack.push("b"); }

    @Test void startsAfresh() { equal(2, stack.size()); }
}
