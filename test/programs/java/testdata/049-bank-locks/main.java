import java.util.*;
import java.util.concurrent.*;
import java.util.concurrent.locks.*;

/** Threads move money; ordered locks keep the sum and avoid deadlock. */
public class Bank {
    static final class Account {
        final int id;
        private final Lock lock = new ReentrantLock();
        private long balance;
        Account(int id, long balance) { this.id = id; this.balance = balance; }
    }

    static boolean transfer(Account from, Account to, long amount) {
        Account first = from.id < to.id ? from : to, second = first == from ? to : from;
        first.lock.lock();
        try {
            second.lock.lock();
            try {
                if (from.balance < amount) return false;
                from.balance -= amount;
                to.balance += amount;
                return true;
            } finally {
                second.lock.unlock();
            }
        } finally {
            first.lock.unlock();
        }
    }

    public static void main(String[] args) throws Exception {
        List<Account> accounts = new ArrayList<>();
        for (int i = 0; i < 5; i++) accounts.add(new Account(i, 1000));
        var barrier = new CyclicBarrier(6);
        var threads = new ArrayList<Thread>();
        for (int t = 0; t < 6; t++) {
            int seed = t;
            threads.add(new Thread(() -> {
                try {
                    barrier.await();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
                var random = new Random(seed);
                for (int i = 0; i < 5000; i++) {
                    int a = random.nextInt(5), b = (a + 1 + random.nextInt(4)) % 5;
                    transfer(accounts.get(a), accounts.get(b), random.nextInt(100));
                }
            }));
        }
        threads.forEach(Thread::start);
        for (Thread t : threads) t.join();
        System.out.println("sum " + accounts.stream().mapToLong(a -> a.balance).sum() + ", nobody in debt: " + accounts.stream().allMatch(a -> a.balance >= 0));

        var lock = new ReentrantLock();
        Condition turn = lock.newCondition();
        int[] next = {0};
        var order = new ArrayList<String>();
        var players = new ArrayList<Thread>();
        String[] names = {"ping", "pong", "乒乓"};
        for (int p = 2; p >= 0; p--) {
            int me = p;
            players.add(new Thread(() -> {
                for (int round = 0; round < 3; round++) {
                    lock.lock();
                    try {
                        while (next[0] % 3 != me) turn.awaitUninterruptibly();
                        order.add(names[me]);
                        next[0]++;
                        turn.signalAll();
                    } finally {
                        lock.unlock();
                    }
                }
            }));
        }
        players.forEach(Thread::start);
        for (Thread t : players) t.join();
        System.out.println(order);
    }
}
