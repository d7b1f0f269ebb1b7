package org.example;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.NoSuchElementException;

public final class Stack<T> {
    private final Deque<T> items = new ArrayDeque<>();

    public Stack<T> push(T item) {
        items.push(item);
        return this;
    }

    public T pop() {
        if (items.isEmpty()) throw new NoSuchElementException("empty");
        return items.pop();
    }

    public int size() { return items.size(); }
}
