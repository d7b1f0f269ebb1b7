import java.util.*;
import java.util.stream.*;

/** Convex hull, area, perimeter and point location with records. */
public class Hull {
    record Point(long x, long y) implements Comparable<Point> {
        static long cross(Point o, Point a, Point b) { return (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x); }
        double to(Point o) { return Math.sqrt((double) ((x - o.x) * (x - o.x) + (y - o.y) * (y - o.y))); }
        @Override public int compareTo(Point o) { return x != o.x ? Long.compare(x, o.x) : Long.compare(y, o.y); }
        @Override public String toString() { return "(" + x + "," + y + ")"; }
    }

    static List<Point> half(List<Point> points) {
        var chain = new ArrayList<Point>();
        for (Point p : points) {
            while (chain.size() > 1 && Point.cross(chain.get(chain.size() - 2), chain.get(chain.size() - 1), p) <= 0) chain.remove(chain.size() - 1);
            chain.add(p);
        }
        return chain.subList(0, chain.size() - 1);
    }

    static List<Point> of(Collection<Point> points) {
        var sorted = points.stream().distinct().sorted().collect(Collectors.toList());
        var hull = new ArrayList<>(half(sorted));
        Collections.reverse(sorted);
        hull.addAll(half(sorted));
        return hull;
    }

    public static void main(String[] args) {
        var random = new Random(7);
        var cloud = Stream.generate(() -> new Point(random.nextInt(1000), random.nextInt(1000))).limit(500).toList();
        var hull = of(cloud);
        long twice = 0;
        double around = 0;
        for (int i = 0; i < hull.size(); i++) {
            Point a = hull.get(i), b = hull.get((i + 1) % hull.size());
            twice += a.x() * b.y() - a.y() * b.x();
            around += a.to(b);
        }
        System.out.println(hull);
        System.out.printf("%d corners, area %.1f, perimeter %.3f%n", hull.size(), twice / 2.0, around);
        boolean inside = cloud.stream().allMatch(p -> IntStream.range(0, hull.size()).allMatch(i -> Point.cross(hull.get(i), hull.get((i + 1) % hull.size()), p) >= 0));
        System.out.println("all inside: " + inside);
    }
}
