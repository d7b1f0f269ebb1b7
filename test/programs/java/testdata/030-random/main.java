import java.util.*;
import java.util.stream.*;

/** Experiments with a fixed seed: π, dice, shuffles, birthdays, a walk. */
public class Chance {
    public static void main(String[] args) {
        var random = new Random(20240501L);
        long inside = IntStream.range(0, 500_000).filter(i -> Math.pow(random.nextDouble(), 2) + Math.pow(random.nextDouble(), 2) < 1).count();
        System.out.printf(Locale.ROOT, "π ≈ %.4f%n", inside / 125_000.0);
        var dice = IntStream.range(0, 3600).mapToObj(i -> random.nextInt(6) + random.nextInt(6) + 2).collect(Collectors.groupingBy(x -> x, TreeMap::new, Collectors.counting()));
        dice.forEach((sum, n) -> System.out.printf("%2d %s %d%n", sum, "█".repeat((int) (n / 20)), n));
        var deck = new ArrayList<String>();
        for (String suit : "♠ ♥ ♦ ♣".split(" ")) for (char rank : "789TJQKA".toCharArray()) deck.add(rank + suit);
        Collections.shuffle(deck, random);
        System.out.println(deck.subList(0, 10));
        for (int people : new int[] {10, 23, 40}) {
            long shared = IntStream.range(0, 2000).filter(i -> random.ints(people, 0, 365).distinct().count() < people).count();
            System.out.printf(Locale.ROOT, "%d people: %.3f%n", people, shared / 2000.0);
        }
        int position = 0, farthest = 0;
        for (int i = 0; i < 10_000; i++) farthest = Math.max(farthest, Math.abs(position += random.nextBoolean() ? 1 : -1));
        System.out.println("walk ended at " + position + ", farthest " + farthest);
        var stats = DoubleStream.generate(random::nextGaussian).limit(10_000).map(x -> 100 + 15 * x).summaryStatistics();
        System.out.printf(Locale.ROOT, "mean %.2f, min %.2f, max %.2f%n", stats.getAverage(), stats.getMin(), stats.getMax());
        System.out.println(new Random(1).nextLong() + " " + new SplittableRandom(1).nextInt(1000) + " " + new Random(5).ints(5, 0, 100).boxed().toList());
    }
}
