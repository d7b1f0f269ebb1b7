import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** Divide and conquer with the fork-join framework, compared with plain loops. */
public class ForkJoin {
    static final class Sum extends RecursiveTask<Long> {
        private final int[] data;
        private final int from, to;
        Sum(int[] data, int from, int to) { this.data = data; this.from = from; this.to = to; }
        @Override protected Long compute() {
            if (to - from < 1000) {
                long sum = 0;
                for (int i = from; i < to; i++) sum += data[i];
                return sum;
            }
            int middle = (from + to) >>> 1;
            var left = new Sum(data, from, middle);
            left.fork();
            return new Sum(data, middle, to).compute() + left.join();
        }
    }

    static final class Sort extends RecursiveAction {
        private final int[] a;
        private final int from, to;
        Sort(int[] a, int from, int to) { this.a = a; this.from = from; this.to = to; }
        @Override protected void compute() {
            if (to - from < 500) {
                Arrays.sort(a, from, to);
                return;
            }
            int middle = (from + to) >>> 1;
            invokeAll(new Sort(a, from, middle), new Sort(a, middle, to));
            int[] left = Arrays.copyOfRange(a, from, middle);
            for (int i = from, l = 0, r = middle; l < left.length; i++) a[i] = r == to || left[l] <= a[r] ? left[l++] : a[r++];
        }
    }

    public static void main(String[] args) {
        int[] data = new Random(5).ints(200_000, -1000, 1000).toArray();
        var pool = new ForkJoinPool(3);
        long sum = pool.invoke(new Sum(data, 0, data.length));
        System.out.println(sum + " " + (sum == Arrays.stream(data).asLongStream().sum()) + " " + (sum == Arrays.stream(data).parallel().mapToLong(x -> x).sum()));
        int[] sorted = data.clone(), expected = data.clone();
        pool.invoke(new Sort(sorted, 0, sorted.length));
        Arrays.parallelSort(expected);
        System.out.println(Arrays.equals(sorted, expected) + " " + sorted[0] + " " + sorted[100_000] + " " + sorted[199_999]);
        System.out.println(IntStream.rangeClosed(1, 20).parallel().mapToObj(Integer::toString).collect(Collectors.joining(" ")));
        Map<Integer, Long> counts = IntStream.range(0, 10_000).parallel().boxed().collect(Collectors.groupingByConcurrent(i -> i % 7, ConcurrentSkipListMap::new, Collectors.counting()));
        System.out.println(counts);
        pool.shutdown();
    }
}
