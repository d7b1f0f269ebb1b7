import java.util.*;

/** Discrete events: customers arrive at counters, with a seeded generator. */
public class QueueSimulation {
    record Event(double time, int order, boolean arrival, int customer) {}

    static String run(int clerks, int customers) {
        var random = new Random(99);
        var events = new PriorityQueue<>(Comparator.comparingDouble(Event::time).thenComparingInt(Event::order));
        double[] arrived = new double[customers];
        double now = 0, waited = 0, worst = 0;
        int order = 0, free = clerks, longest = 0;
        for (int c = 0; c < customers; c++) {
            now += -1.5 * Math.log(1 - random.nextDouble());
            arrived[c] = now;
            events.add(new Event(now, order++, true, c));
        }
        Deque<Integer> line = new ArrayDeque<>();
        while (!events.isEmpty()) {
            Event e = events.poll();
            now = e.time();
            if (e.arrival()) line.add(e.customer());
            else free++;
            longest = Math.max(longest, line.size());
            while (free > 0 && !line.isEmpty()) {
                double wait = now - arrived[line.poll()];
                waited += wait;
                worst = Math.max(worst, wait);
                free--;
                events.add(new Event(now + 2 + random.nextInt(5), order++, false, 0));
            }
        }
        return String.format(Locale.ROOT, "%d clerks: closed at %.1f, mean wait %.2f, worst %.2f, longest line %d", clerks, now, waited / customers, worst, longest);
    }

    public static void main(String[] args) {
        for (int clerks : new int[] {2, 3, 4, 8}) System.out.println(run(clerks, 1000));
    }
}
