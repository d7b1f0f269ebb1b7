import java.util.*;
import java.util.stream.*;

/** Huffman codes over a sealed tree, there and back. */
public class Huffman {
    sealed interface Tree permits Leaf, Fork { int weight(); int order(); }
    record Leaf(int symbol, int weight) implements Tree { public int order() { return symbol; } }
    record Fork(Tree left, Tree right) implements Tree {
        public int weight() { return left.weight() + right.weight(); }
        public int order() { return Math.min(left.order(), right.order()); }
    }

    static Tree build(String text) {
        var queue = new PriorityQueue<>(Comparator.comparingInt(Tree::weight).thenComparingInt(Tree::order));
        text.codePoints().boxed().collect(Collectors.groupingBy(c -> c, Collectors.summingInt(c -> 1))).forEach((c, n) -> queue.add(new Leaf(c, n)));
        while (queue.size() > 1) queue.add(new Fork(queue.poll(), queue.poll()));
        return queue.poll();
    }

    static void codes(Tree tree, String prefix, Map<Integer, String> out) {
        if (tree instanceof Leaf leaf) out.put(leaf.symbol(), prefix);
        else if (tree instanceof Fork fork) {
            codes(fork.left(), prefix + "0", out);
            codes(fork.right(), prefix + "1", out);
        }
    }

    static String decode(Tree tree, String bits) {
        var out = new StringBuilder();
        Tree at = tree;
        for (char bit : bits.toCharArray()) {
            at = bit == '0' ? ((Fork) at).left() : ((Fork) at).right();
            if (at instanceof Leaf leaf) {
                out.appendCodePoint(leaf.symbol());
                at = tree;
            }
        }
        return out.toString();
    }

    public static void main(String[] args) {
        String text = "she sells sea shells by the sea shore – 上海自来水来自海上 – 🐚🐚 Fischers Fritz fischt frische Fische";
        Tree tree = build(text);
        Map<Integer, String> codes = new TreeMap<>();
        codes(tree, "", codes);
        String bits = text.codePoints().mapToObj(codes::get).collect(Collectors.joining());
        codes.entrySet().stream().sorted(Comparator.comparing((Map.Entry<Integer, String> e) -> e.getValue().length()).thenComparing(Map.Entry::getValue)).limit(8)
            .forEach(e -> System.out.println("'" + Character.toString(e.getKey()) + "' " + e.getValue()));
        System.out.println(bits.length() + " bits, " + codes.size() + " symbols, decoded: " + decode(tree, bits).equals(text));
        System.out.println("prefix-free: " + codes.values().stream().noneMatch(a -> codes.values().stream().anyMatch(b -> !a.equals(b) && b.startsWith(a))));
    }
}
