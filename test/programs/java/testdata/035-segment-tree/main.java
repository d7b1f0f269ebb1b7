import java.util.*;
import java.util.function.*;

/** A generic segment tree and a Fenwick tree, checked against loops. */
public class SegmentTree<T> {
    private final Object[] nodes;
    private final int size;
    private final BinaryOperator<T> join;
    private final T neutral;

    SegmentTree(List<T> values, T neutral, BinaryOperator<T> join) {
        this.size = values.size();
        this.join = join;
        this.neutral = neutral;
        nodes = new Object[2 * size];
        for (int i = 0; i < size; i++) nodes[size + i] = values.get(i);
        for (int i = size - 1; i > 0; i--) nodes[i] = join.apply(node(2 * i), node(2 * i + 1));
    }

    @SuppressWarnings("unchecked")
    private T node(int i) { return (T) nodes[i]; }

    void set(int index, T value) {
        int i = index + size;
        nodes[i] = value;
        while ((i /= 2) > 0) nodes[i] = join.apply(node(2 * i), node(2 * i + 1));
    }

    T query(int from, int to) {
        T left = neutral, right = neutral;
        for (int l = from + size, r = to + size; l < r; l /= 2, r /= 2) {
            if ((l & 1) == 1) left = join.apply(left, node(l++));
            if ((r & 1) == 1) right = join.apply(node(--r), right);
        }
        return join.apply(left, right);
    }

    static long inversions(int[] permutation) {
        int[] tree = new int[permutation.length + 1];
        long found = 0;
        for (int seen = 0; seen < permutation.length; seen++) {
            found += seen;
            for (int i = permutation[seen] + 1; i > 0; i &= i - 1) found -= tree[i];
            for (int i = permutation[seen] + 1; i < tree.length; i += i & -i) tree[i]++;
        }
        return found;
    }

    public static void main(String[] args) {
        var random = new Random(11);
        var values = new ArrayList<Integer>();
        for (int i = 0; i < 300; i++) values.add(random.nextInt(200) - 100);
        var sum = new SegmentTree<>(values, 0, Integer::sum);
        var min = new SegmentTree<>(values, Integer.MAX_VALUE, Math::min);
        int agree = 0;
        for (int round = 0; round < 1000; round++) {
            int at = random.nextInt(300), value = random.nextInt(200) - 100, a = random.nextInt(300), b = a + 1 + random.nextInt(300 - a);
            values.set(at, value);
            sum.set(at, value);
            min.set(at, value);
            var part = values.subList(a, b);
            if (sum.query(a, b) == part.stream().mapToInt(x -> x).sum() && min.query(a, b).equals(Collections.min(part))) agree++;
        }
        System.out.println(agree + " of 1000 agree, total " + sum.query(0, 300));
        var words = new SegmentTree<>(List.of("in", "order", "去", "🦀", "!"), "", String::concat);
        words.set(1, "Reihe");
        System.out.println(words.query(0, 5) + " " + words.query(1, 3));
        var list = new ArrayList<Integer>();
        for (int i = 0; i < 2000; i++) list.add(i);
        Collections.shuffle(list, random);
        System.out.println("inversions " + inversions(list.stream().mapToInt(x -> x).toArray()) + " " + inversions(new int[] {3, 2, 1, 0}));
    }
}
