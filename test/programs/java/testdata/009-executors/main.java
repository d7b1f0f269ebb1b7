import java.util.*;
import java.util.concurrent.*;
import java.util.stream.*;

/** A pool computes in parallel; results come back in order, failures as causes. */
public class Pools {
    static int collatz(long n) {
        int steps = 0;
        for (; n != 1; steps++) n = n % 2 == 0 ? n / 2 : 3 * n + 1;
        return steps;
    }

    public static void main(String[] args) throws Exception {
        ExecutorService pool = Executors.newFixedThreadPool(4);
        try {
            List<Callable<String>> tasks = IntStream.rangeClosed(1, 12).mapToObj(n -> (Callable<String>) () -> {
                if (n % 5 == 0) throw new IllegalArgumentException("no fives: " + n);
                return n + " takes " + collatz(n);
            }).toList();
            for (Future<String> future : pool.invokeAll(tasks)) {
                try {
                    System.out.println(future.get());
                } catch (ExecutionException e) {
                    System.out.println("failed: " + e.getCause().getMessage());
                }
            }
            int longest = pool.submit(() -> IntStream.range(1, 100_000).boxed().max(Comparator.comparingInt((Integer n) -> collatz(n))).orElseThrow()).get();
            System.out.println("longest below 100000: " + longest + " with " + collatz(longest));
            Future<?> slow = pool.submit(() -> new CountDownLatch(1).await(30, TimeUnit.SECONDS));
            try {
                slow.get(20, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                System.out.println("timed out, cancelled: " + slow.cancel(true));
            }
        } finally {
            pool.shutdown();
            System.out.println("ended: " + pool.awaitTermination(5, TimeUnit.SECONDS));
        }
    }
}
