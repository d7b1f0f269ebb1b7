import java.util.*;
import java.util.function.*;

/** A persistent list: map, filter, fold, reverse, merge sort, all by recursion or loops. */
public class Linked {
    record Node<T>(T head, Node<T> tail) {}

    @SafeVarargs static <T> Node<T> of(T... items) {
        Node<T> list = null;
        for (int i = items.length - 1; i >= 0; i--) list = new Node<>(items[i], list);
        return list;
    }
    static <T, R> R fold(Node<T> list, R start, BiFunction<R, T, R> f) {
        R result = start;
        for (; list != null; list = list.tail()) result = f.apply(result, list.head());
        return result;
    }
    static <T> Node<T> reverse(Node<T> list) { return fold(list, (Node<T>) null, (done, x) -> new Node<>(x, done)); }
    static <T, R> Node<R> map(Node<T> list, Function<T, R> f) { return list == null ? null : new Node<>(f.apply(list.head()), map(list.tail(), f)); }
    static <T> Node<T> filter(Node<T> list, Predicate<T> keep) {
        return list == null ? null : keep.test(list.head()) ? new Node<>(list.head(), filter(list.tail(), keep)) : filter(list.tail(), keep);
    }
    static <T extends Comparable<T>> Node<T> merge(Node<T> a, Node<T> b) {
        if (a == null || b == null) return a == null ? b : a;
        return a.head().compareTo(b.head()) <= 0 ? new Node<>(a.head(), merge(a.tail(), b)) : new Node<>(b.head(), merge(a, b.tail()));
    }
    static <T extends Comparable<T>> Node<T> sort(Node<T> list) {
        if (list == null || list.tail() == null) return list;
        Node<T> left = null, right = null;
        for (; list != null; list = list.tail()) {
            Node<T> t = new Node<>(list.head(), right);
            right = left;
            left = t;
        }
        return merge(sort(left), sort(right));
    }
    static <T> String show(Node<T> list) { return fold(list, new StringJoiner(" → ", "[", "]"), (j, x) -> j.add(String.valueOf(x))).toString(); }

    public static void main(String[] args) {
        var numbers = of(5, 2, 9, 1, 5, 6);
        System.out.println(show(numbers) + " " + show(reverse(numbers)) + " " + show(sort(numbers)));
        System.out.println(show(map(filter(numbers, n -> n % 2 == 1), n -> "n" + n)) + " sum " + fold(numbers, 0, Integer::sum));
        var shared = new Node<>("neu 🦀", of("b", "c"));
        System.out.println(show(shared) + " " + shared.tail().equals(of("b", "c")) + " " + shared);
        System.out.println(show(sort(of("zebra", "äpfel", "apfel", "你好"))) + " " + show(sort((Node<String>) null)));
    }
}
