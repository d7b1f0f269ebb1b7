import java.util.*;
import java.util.stream.*;

/** Interval scheduling, rooms, merged intervals, deadlines, coins. */
public class Greedy {
    record Meeting(String name, double start, double end) {}

    public static void main(String[] args) {
        var meetings = List.of(new Meeting("standup", 9, 10), new Meeting("設計", 9.5, 11), new Meeting("lunch", 12, 13), new Meeting("review", 10, 12), new Meeting("übergabe", 12.5, 14), new Meeting("retro", 13, 15));
        double until = 0;
        var chosen = new ArrayList<String>();
        for (Meeting m : meetings.stream().sorted(Comparator.comparingDouble(Meeting::end)).toList()) {
            if (m.start() >= until) {
                chosen.add(m.name());
                until = m.end();
            }
        }
        System.out.println("most: " + chosen);
        var ends = new PriorityQueue<Double>();
        int rooms = 0;
        for (Meeting m : meetings.stream().sorted(Comparator.comparingDouble(Meeting::start)).toList()) {
            while (!ends.isEmpty() && ends.peek() <= m.start()) ends.poll();
            ends.add(m.end());
            rooms = Math.max(rooms, ends.size());
        }
        System.out.println("rooms: " + rooms);
        var merged = new ArrayList<int[]>();
        for (int[] i : List.of(new int[] {1, 4}, new int[] {2, 6}, new int[] {8, 10}, new int[] {10, 12}, new int[] {15, 18})) {
            if (!merged.isEmpty() && i[0] <= merged.get(merged.size() - 1)[1]) merged.get(merged.size() - 1)[1] = Math.max(i[1], merged.get(merged.size() - 1)[1]);
            else merged.add(i.clone());
        }
        System.out.println(merged.stream().map(Arrays::toString).collect(Collectors.joining()));
        var rest = new int[] {289};
        System.out.println(IntStream.of(200, 100, 50, 20, 10, 5, 2, 1).mapToObj(c -> {
            int n = rest[0] / c;
            rest[0] %= c;
            return n == 0 ? "" : n + "×" + c + " ";
        }).collect(Collectors.joining()).strip());
        int[] gas = {1, 2, 3, 4, 5}, cost = {3, 4, 5, 1, 2};
        int start = 0, tank = 0, total = 0;
        for (int i = 0; i < gas.length; i++) {
            tank += gas[i] - cost[i];
            total += gas[i] - cost[i];
            if (tank < 0) {
                start = i + 1;
                tank = 0;
            }
        }
        System.out.println("start at station " + (total < 0 ? -1 : start));
        record Job(char name, int deadline, int profit) {}
        var slots = new char[4];
        Arrays.fill(slots, '-');
        Stream.of(new Job('a', 2, 100), new Job('b', 1, 19), new Job('c', 2, 27), new Job('d', 1, 25), new Job('e', 3, 15)).sorted(Comparator.comparingInt(Job::profit).reversed()).forEach(j -> {
            for (int s = j.deadline() - 1; s >= 0; s--) if (slots[s] == '-') {
                slots[s] = j.name();
                break;
            }
        });
        System.out.println("jobs " + new String(slots));
    }
}
