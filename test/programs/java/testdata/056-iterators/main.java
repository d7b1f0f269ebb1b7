import java.util.*;
import java.util.function.*;
import java.util.stream.*;

/** Iterables of our own: ranges, chunks, zips, a lazy prime source, a tree walk. */
public class Iterators {
    static Iterable<Integer> range(int from, int to, int step) {
        return () -> new PrimitiveIterator.OfInt() {
            private int at = from;
            @Override public boolean hasNext() { return step > 0 ? at < to : at > to; }
            @Override public int nextInt() {
                if (!hasNext()) throw new NoSuchElementException();
                int n = at;
                at += step;
                return n;
            }
        };
    }

    static <T> Iterable<List<T>> chunks(Iterable<T> source, int size) {
        return () -> {
            Iterator<T> it = source.iterator();
            return new Iterator<>() {
                @Override public boolean hasNext() { return it.hasNext(); }
                @Override public List<T> next() {
                    var out = new ArrayList<T>();
                    while (it.hasNext() && out.size() < size) out.add(it.next());
                    return out;
                }
            };
        };
    }

    static <A, B, C> Stream<C> zip(Iterable<A> a, Iterable<B> b, BiFunction<A, B, C> join) {
        Iterator<A> left = a.iterator();
        Iterator<B> right = b.iterator();
        return Stream.generate(() -> left.hasNext() && right.hasNext() ? join.apply(left.next(), right.next()) : null).takeWhile(Objects::nonNull);
    }

    static Iterator<Integer> primes() {
        var queue = new PriorityQueue<int[]>(Comparator.comparingInt(e -> e[0]));
        return new Iterator<>() {
            private int n = 1;
            @Override public boolean hasNext() { return true; }
            @Override public Integer next() {
                while (true) {
                    n++;
                    boolean composite = false;
                    while (!queue.isEmpty() && queue.peek()[0] == n) {
                        int[] e = queue.poll();
                        e[0] += e[1];
                        queue.add(e);
                        composite = true;
                    }
                    if (!composite) {
                        if (n < 40_000) queue.add(new int[] {n * n, n});
                        return n;
                    }
                }
            }
        };
    }

    public static void main(String[] args) {
        for (int n : range(10, 0, -3)) System.out.print(n + " ");
        System.out.println();
        for (List<Integer> chunk : chunks(range(0, 8, 1), 3)) System.out.print(chunk);
        System.out.println();
        System.out.println(zip(List.of("α", "🦀", "c"), range(1, 100, 1), (s, n) -> s + n).toList());
        System.out.println(Stream.generate(primes()::next).limit(15).toList());
        var list = new ArrayList<>(List.of(1, 2, 3, 4, 5, 6));
        list.removeIf(n -> n % 2 == 0);
        for (ListIterator<Integer> it = list.listIterator(); it.hasNext(); ) {
            int n = it.next();
            it.set(n * 10);
            if (n == 3) it.add(99);
        }
        System.out.println(list);
        try {
            for (int n : list) if (n == 10) list.remove(0);
        } catch (ConcurrentModificationException e) {
            System.out.println("changed while iterating");
        }
        Spliterator<Integer> half = List.of(1, 2, 3, 4).spliterator();
        Spliterator<Integer> first = half.trySplit();
        first.forEachRemaining(n -> System.out.print(n + " "));
        System.out.println("| " + half.estimateSize() + " left, " + StreamSupport.stream(half, false).toList());
    }
}
