import java.util.*;

/** A trie over code points: completion, deletion, counting. */
public class Trie {
    private final Map<Integer, Trie> children = new TreeMap<>();
    private boolean word;

    void add(String text) {
        Trie node = this;
        for (int c : text.codePoints().toArray()) node = node.children.computeIfAbsent(c, k -> new Trie());
        node.word = true;
    }

    Optional<Trie> find(String prefix) {
        Trie node = this;
        for (int c : prefix.codePoints().toArray()) {
            node = node.children.get(c);
            if (node == null) return Optional.empty();
        }
        return Optional.of(node);
    }

    List<String> complete(String prefix) {
        var out = new ArrayList<String>();
        find(prefix).ifPresent(node -> node.collect(new StringBuilder(prefix), out));
        return out;
    }

    private void collect(StringBuilder path, List<String> out) {
        if (word) out.add(path.toString());
        children.forEach((c, child) -> {
            int length = path.length();
            child.collect(path.appendCodePoint(c), out);
            path.setLength(length);
        });
    }

    boolean remove(String text) {
        if (text.isEmpty()) word = false;
        else {
            int c = text.codePointAt(0);
            Trie child = children.get(c);
            if (child != null && child.remove(text.substring(Character.charCount(c)))) children.remove(c);
        }
        return !word && children.isEmpty();
    }

    int nodes() { return 1 + children.values().stream().mapToInt(Trie::nodes).sum(); }

    public static void main(String[] args) {
        Trie trie = new Trie();
        for (String w : "tea team ten to inn in élan élève 你好 你们 🦀 🦀🐟".split(" ")) trie.add(w);
        for (String prefix : List.of("te", "i", "él", "你", "🦀", "x")) System.out.println(prefix + " " + trie.complete(prefix));
        System.out.println(trie.nodes() + " nodes");
        for (String w : List.of("team", "in", "none", "🦀")) trie.remove(w);
        System.out.println(trie.nodes() + " nodes " + trie.complete(""));
    }
}
