import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;

/** Latches, semaphores, phasers, exchangers, atomics, thread locals, interrupts. */
public class Synchronizers {
    public static void main(String[] args) throws Exception {
        var latch = new CountDownLatch(4);
        var counter = new AtomicInteger();
        var plain = new int[1];
        for (int t = 0; t < 4; t++) {
            new Thread(() -> {
                for (int i = 0; i < 10_000; i++) {
                    counter.incrementAndGet();
                    synchronized (plain) {
                        plain[0]++;
                    }
                }
                latch.countDown();
            }).start();
        }
        latch.await();
        System.out.println("counted " + counter + " " + plain[0]);

        var room = new Semaphore(2);
        var inside = new AtomicInteger();
        var most = new AtomicInteger();
        var guests = new ArrayList<Thread>();
        for (int g = 0; g < 6; g++) {
            var guest = new Thread(() -> {
                room.acquireUninterruptibly();
                most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                Thread.yield();
                inside.decrementAndGet();
                room.release();
            });
            guests.add(guest);
            guest.start();
        }
        for (Thread g : guests) g.join();
        System.out.println("never more than two: " + (most.get() <= 2) + ", free again: " + room.availablePermits());

        var exchanger = new Exchanger<String>();
        var got = new CompletableFuture<String>();
        new Thread(() -> {
            try {
                got.complete(exchanger.exchange("from the child 子"));
            } catch (InterruptedException e) {
                got.completeExceptionally(e);
            }
        }).start();
        System.out.println(exchanger.exchange("from main") + " / " + got.get());

        var phaser = new Phaser(1);
        var phases = new ConcurrentSkipListMap<Integer, Integer>();
        for (int t = 0; t < 3; t++) {
            phaser.register();
            new Thread(() -> {
                for (int p = 0; p < 3; p++) {
                    phases.merge(p, 1, Integer::sum);
                    phaser.arriveAndAwaitAdvance();
                }
                phaser.arriveAndDeregister();
            }).start();
        }
        for (int p = 0; p < 3; p++) phaser.arriveAndAwaitAdvance();
        System.out.println("phases " + phases);

        ThreadLocal<String> local = ThreadLocal.withInitial(() -> "fresh");
        local.set("main's");
        var seen = new String[1];
        var other = new Thread(() -> seen[0] = local.get());
        other.start();
        other.join();
        System.out.println(local.get() + " " + seen[0]);
        var sleeper = new Thread(() -> {
            try {
                Thread.sleep(30_000);
            } catch (InterruptedException e) {
                System.out.println("interrupted, flag cleared: " + !Thread.currentThread().isInterrupted());
            }
        });
        sleeper.start();
        sleeper.interrupt();
        sleeper.join();
        var failing = new Thread(() -> { throw new IllegalStateException("in a thread"); });
        failing.setUncaughtExceptionHandler((t, e) -> System.out.println("handler: " + e.getMessage()));
        failing.start();
        failing.join();
        System.out.println(failing.getState());
    }
}
