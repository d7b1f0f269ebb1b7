import java.util.*;
import java.util.function.*;

/** An LRU cache on LinkedHashMap, with counters. */
public class Lru {
    static final class Cache<K, V> extends LinkedHashMap<K, V> {
        private final int capacity;
        private int misses;

        Cache(int capacity) {
            super(16, 0.75f, true);
            this.capacity = capacity;
        }

        V fetch(K key, Function<? super K, ? extends V> load) {
            V value = get(key);
            if (value == null) {
                misses++;
                put(key, value = load.apply(key));
            }
            return value;
        }

        @Override protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
            boolean full = size() > capacity;
            if (full) System.out.println("  drops " + eldest.getKey());
            return full;
        }
    }

    public static void main(String[] args) {
        var cache = new Cache<String, Integer>(3);
        for (String word : "tea milk tea água tea 茶 milk tea juice água".split(" ")) {
            System.out.println(word + " " + cache.fetch(word, w -> w.codePoints().sum()));
        }
        System.out.println(cache.keySet() + " misses " + cache.misses);
    }
}
