import java.util.*;
import java.util.stream.*;

/** Lists, deques, navigable maps, enum maps, bit sets, views and algorithms. */
public class CollectionTour {
    enum Day { MO, TU, WE, TH, FR, SA, SU }

    public static void main(String[] args) {
        var map = new TreeMap<Integer, String>(Map.of(10, "zehn", 20, "zwanzig", 30, "三十", 40, "vierzig"));
        System.out.println(map.floorKey(25) + " " + map.ceilingEntry(25) + " " + map.headMap(20, true) + " " + map.descendingMap() + " " + map.pollFirstEntry());
        var counts = new TreeMap<Character, Integer>();
        for (char c : "mississippi".toCharArray()) counts.merge(c, 1, Integer::sum);
        counts.computeIfPresent('p', (k, v) -> null);
        System.out.println(counts + " " + counts.getOrDefault('z', 0));
        var shifts = new EnumMap<Day, List<String>>(Day.class);
        for (String s : "FR:Ada MO:Bo FR:Çem SU:Ada".split(" ")) shifts.computeIfAbsent(Day.valueOf(s.substring(0, 2)), d -> new ArrayList<>()).add(s.substring(3));
        System.out.println(shifts + " " + EnumSet.complementOf(EnumSet.copyOf(shifts.keySet())));
        Deque<Integer> deque = new ArrayDeque<>(List.of(1, 2, 3));
        deque.addFirst(0);
        deque.offerLast(4);
        System.out.println(deque.pollLast() + " " + deque.pop() + " " + deque + " " + deque.peekFirst());
        var list = IntStream.rangeClosed(1, 9).boxed().collect(Collectors.toList());
        Collections.rotate(list, 3);
        Collections.swap(list, 0, 8);
        System.out.println(list + " " + list.subList(2, 5) + " " + Collections.max(list) + " " + Collections.frequency(list, 4) + " " + Collections.nCopies(3, "é"));
        list.subList(0, 6).clear();
        list.replaceAll(n -> n * n);
        System.out.println(list + " " + Collections.binarySearch(List.of(1, 3, 5, 7), 4) + " " + Collections.disjoint(list, Set.of(99)));
        var a = new TreeSet<>(Set.of(1, 2, 3, 4));
        var b = new TreeSet<>(Set.of(3, 4, 5));
        var union = new TreeSet<>(a);
        union.addAll(b);
        a.retainAll(b);
        System.out.println(union + " " + a + " " + union.higher(3) + " " + union.tailSet(4));
        var bits = new BitSet();
        bits.set(3, 7);
        bits.flip(5);
        System.out.println(bits + " " + bits.cardinality() + " " + bits.nextClearBit(3));
        var linked = new LinkedHashMap<String, Integer>(16, 0.75f, true);
        for (String k : "a b c a".split(" ")) linked.merge(k, 1, Integer::sum);
        System.out.println(linked + " " + Arrays.asList(1, null, 3).indexOf(null) + " " + List.of(1, 2).equals(Arrays.asList(1, 2)));
        int[][] grid = {{3, 1}, {2, 9}, {2, 4}};
        Arrays.sort(grid, Comparator.<int[]>comparingInt(r -> r[0]).thenComparingInt(r -> r[1]));
        System.out.println(Arrays.deepToString(grid) + " " + Arrays.mismatch(new int[] {1, 2}, new int[] {1, 3}) + " " + Arrays.stream(new int[] {1, 2, 3}).sum());
        for (Runnable r : List.<Runnable>of(() -> List.of(1).set(0, 2), () -> Collections.unmodifiableMap(map).clear(), () -> List.of("x", (String) null), () -> Map.of("k", 1, "k", 2))) {
            try {
                r.run();
            } catch (RuntimeException e) {
                System.out.print(e.getClass().getSimpleName() + " ");
            }
        }
        System.out.println();
    }
}
