import java.util.*;

/** A balanced tree as a set with order statistics. */
public class AvlTree<K extends Comparable<K>> implements Iterable<K> {
    private static final class Node<K> {
        final K key;
        Node<K> left, right;
        int height = 1, size = 1;
        Node(K key) { this.key = key; }
    }

    private Node<K> root;

    private int height(Node<K> n) { return n == null ? 0 : n.height; }
    private int size(Node<K> n) { return n == null ? 0 : n.size; }

    private Node<K> update(Node<K> n) {
        n.height = 1 + Math.max(height(n.left), height(n.right));
        n.size = 1 + size(n.left) + size(n.right);
        return n;
    }

    private Node<K> right(Node<K> n) {
        Node<K> up = n.left;
        n.left = up.right;
        up.right = update(n);
        return update(up);
    }

    private Node<K> left(Node<K> n) {
        Node<K> up = n.right;
        n.right = up.left;
        up.left = update(n);
        return update(up);
    }

    private Node<K> balance(Node<K> n) {
        int lean = height(update(n).left) - height(n.right);
        if (lean > 1) {
            if (height(n.left.left) < height(n.left.right)) n.left = left(n.left);
            return right(n);
        }
        if (lean < -1) {
            if (height(n.right.right) < height(n.right.left)) n.right = right(n.right);
            return left(n);
        }
        return n;
    }

    private Node<K> add(Node<K> n, K key) {
        if (n == null) return new Node<>(key);
        int c = key.compareTo(n.key);
        if (c < 0) n.left = add(n.left, key);
        else if (c > 0) n.right = add(n.right, key);
        return balance(n);
    }

    void add(K key) { root = add(root, key); }

    K at(int rank) {
        Node<K> n = root;
        while (size(n.left) != rank) {
            if (rank < size(n.left)) n = n.left;
            else {
                rank -= size(n.left) + 1;
                n = n.right;
            }
        }
        return n.key;
    }

    @Override public Iterator<K> iterator() {
        var stack = new ArrayDeque<Node<K>>();
        for (var n = root; n != null; n = n.left) stack.push(n);
        return new Iterator<>() {
            @Override public boolean hasNext() { return !stack.isEmpty(); }
            @Override public K next() {
                Node<K> top = stack.pop();
                for (var n = top.right; n != null; n = n.left) stack.push(n);
                return top.key;
            }
        };
    }

    public static void main(String[] args) {
        var words = new AvlTree<String>();
        for (String w : "the tree keeps these words in order 秩序 étagère the tree".split(" ")) words.add(w);
        System.out.println(String.join(" ", words) + " | height " + words.root.height + ", third " + words.at(2));
        var numbers = new AvlTree<Integer>();
        for (int i = 0; i < 20_000; i++) numbers.add(i);
        System.out.println(numbers.root.size + " keys, height " + numbers.root.height + ", median " + numbers.at(10_000));
        int last = -1, sorted = 0;
        for (int n : numbers) {
            if (n > last) sorted++;
            last = n;
        }
        System.out.println("in order: " + sorted);
    }
}
