import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/** Producers and consumers joined by a blocking queue and ended by poison. */
public class ProducerConsumer {
    private static final int POISON = -1;

    public static void main(String[] args) throws InterruptedException {
        BlockingQueue<Integer> queue = new ArrayBlockingQueue<>(8);
        var sum = new LongAdder();
        var seen = new ConcurrentSkipListSet<Integer>();
        List<Thread> producers = new ArrayList<>(), consumers = new ArrayList<>();
        for (int p = 0; p < 3; p++) {
            int base = p * 1000;
            producers.add(new Thread(() -> {
                try {
                    for (int i = 0; i < 500; i++) queue.put(base + i);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }, "producer-" + p));
        }
        for (int c = 0; c < 2; c++) {
            consumers.add(new Thread(() -> {
                try {
                    for (int n; (n = queue.take()) != POISON; seen.add(n)) sum.add(n);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            }));
        }
        consumers.forEach(Thread::start);
        producers.forEach(Thread::start);
        for (Thread t : producers) t.join();
        for (Thread t : consumers) queue.put(POISON);
        for (Thread t : consumers) t.join();
        System.out.println("items " + seen.size() + ", sum " + sum + ", first " + seen.first() + ", last " + seen.last());
        System.out.println("queue empty: " + queue.isEmpty() + ", states " + producers.stream().map(Thread::getState).distinct().toList());
    }
}
