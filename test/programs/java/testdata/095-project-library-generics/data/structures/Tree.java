package data.structures;

import java.util.function.BiFunction;
import java.util.function.Function;

/** An immutable search tree; null is the empty one. */
public record Tree<T extends Comparable<? super T>>(Tree<T> left, T value, Tree<T> right) {
    @SafeVarargs
    public static <T extends Comparable<? super T>> Tree<T> of(T... values) {
        Tree<T> tree = null;
        for (T value : values) tree = insert(tree, value);
        return tree;
    }

    private static <T extends Comparable<? super T>> Tree<T> insert(Tree<T> tree, T value) {
        if (tree == null) return new Tree<>(null, value, null);
        int c = value.compareTo(tree.value);
        return c < 0 ? new Tree<>(insert(tree.left, value), tree.value, tree.right) : c > 0 ? new Tree<>(tree.left, tree.value, insert(tree.right, value)) : tree;
    }

    public boolean contains(T wanted) {
        Tree<T> at = this;
        while (at != null && at.value.compareTo(wanted) != 0) at = wanted.compareTo(at.value) < 0 ? at.left : at.right;
        return at != null;
    }

    public <R> R fold(R start, BiFunction<R, T, R> f) {
        R first = left == null ? start : left.fold(start, f);
        R mine = f.apply(first, value);
        return right == null ? mine : right.fold(mine, f);
    }

    public <R extends Comparable<? super R>> Tree<R> map(Function<T, R> f) { return new Tree<>(left == null ? null : left.map(f), f.apply(value), right == null ? null : right.map(f)); }

    public int depth() { return 1 + Math.max(left == null ? 0 : left.depth(), right == null ? 0 : right.depth()); }

    @Override public String toString() { return fold(new StringBuilder(), (out, v) -> out.append(out.isEmpty() ? "" : " ").append(v)).insert(0, '(').append(')').toString(); }
}
