import java.util.*;
import java.util.stream.*;

/** An open-addressing map, a Bloom filter and a skip list of our own. */
public class HashStructures {
    static final class OpenMap<K, V> {
        private Object[] keys = new Object[8], values = new Object[8];
        private int size;

        private int slot(Object key) {
            int i = (key.hashCode() * 0x9E3779B9) >>> 8 & keys.length - 1;
            while (keys[i] != null && !keys[i].equals(key)) i = i + 1 & keys.length - 1;
            return i;
        }
        @SuppressWarnings("unchecked") V get(K key) { return (V) values[slot(key)]; }
        void put(K key, V value) {
            if (2 * size > keys.length) grow();
            int i = slot(key);
            if (keys[i] == null) size++;
            keys[i] = key;
            values[i] = value;
        }
        private void grow() {
            Object[] k = keys, v = values;
            keys = new Object[2 * k.length];
            values = new Object[2 * k.length];
            for (int i = 0; i < k.length; i++) if (k[i] != null) {
                int s = slot(k[i]);
                keys[s] = k[i];
                values[s] = v[i];
            }
        }
    }

    static final class Bloom {
        private final BitSet bits = new BitSet();
        private IntStream places(String s) {
            int a = s.hashCode(), b = new StringBuilder(s).reverse().toString().hashCode() | 1;
            return IntStream.range(0, 7).map(i -> Math.floorMod((a + i * b) * 0x85ebca6b ^ (a + i * b) >>> 15, 16384));
        }
        void add(String s) { places(s).forEach(bits::set); }
        boolean has(String s) { return places(s).allMatch(bits::get); }
    }

    static final class SkipList {
        private static final class Node {
            final int key;
            final Node[] next;
            Node(int key, int levels) { this.key = key; next = new Node[levels]; }
        }
        private final Node head = new Node(Integer.MIN_VALUE, 16);
        private final Random random = new Random(4);
        boolean add(int key) {
            Node[] before = new Node[16];
            Node n = head;
            for (int l = 15; l >= 0; l--) {
                while (n.next[l] != null && n.next[l].key < key) n = n.next[l];
                before[l] = n;
            }
            if (n.next[0] != null && n.next[0].key == key) return false;
            Node fresh = new Node(key, 1 + Math.min(15, Integer.numberOfTrailingZeros(random.nextInt() | 1 << 15)));
            for (int l = 0; l < fresh.next.length; l++) {
                fresh.next[l] = before[l].next[l];
                before[l].next[l] = fresh;
            }
            return true;
        }
        List<Integer> first(int count) {
            var out = new ArrayList<Integer>();
            for (Node n = head.next[0]; n != null && out.size() < count; n = n.next[0]) out.add(n.key);
            return out;
        }
    }

    public static void main(String[] args) {
        var map = new OpenMap<String, Integer>();
        for (int i = 0; i < 5000; i++) map.put("schlüssel-" + i % 3000, i);
        System.out.println(map.size + " " + map.get("schlüssel-7") + " " + map.get("schlüssel-2999") + " " + map.get("没有") + " " + map.keys.length);
        var bloom = new Bloom();
        for (int i = 0; i < 1000; i++) bloom.add("wort-" + i);
        System.out.println(IntStream.range(0, 1000).allMatch(i -> bloom.has("wort-" + i)) + ", wrong " + IntStream.range(0, 10_000).filter(i -> bloom.has("other-" + i)).count() + " of 10000");
        var list = new SkipList();
        int added = 0;
        for (int i = 0; i < 5000; i++) if (list.add(i * 7919 % 4001)) added++;
        System.out.println(added + " " + list.first(10) + " " + IntStream.range(0, 4001).boxed().toList().equals(list.first(5000)));
    }
}
