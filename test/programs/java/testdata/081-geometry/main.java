import java.awt.geom.*;
import java.util.*;
import java.util.stream.*;

/** Closest pair, point in polygon, segments that cross, areas with java.awt.geom. */
public class Geometry {
    record P(double x, double y) {
        double to(P o) { return Math.hypot(x - o.x, y - o.y); }
    }

    static double closest(List<P> sorted) {
        if (sorted.size() < 4) return IntStream.range(0, sorted.size()).boxed().flatMapToDouble(i -> IntStream.range(i + 1, sorted.size()).mapToDouble(j -> sorted.get(i).to(sorted.get(j)))).min().orElse(Double.MAX_VALUE);
        int m = sorted.size() / 2;
        double line = sorted.get(m).x(), d = Math.min(closest(sorted.subList(0, m)), closest(sorted.subList(m, sorted.size())));
        var strip = sorted.stream().filter(p -> Math.abs(p.x() - line) < d).sorted(Comparator.comparingDouble(P::y)).toList();
        double best = d;
        for (int i = 0; i < strip.size(); i++) for (int j = i + 1; j < strip.size() && strip.get(j).y() - strip.get(i).y() < best; j++) best = Math.min(best, strip.get(i).to(strip.get(j)));
        return best;
    }

    static boolean inside(List<P> polygon, P q) {
        boolean in = false;
        for (int i = 0, j = polygon.size() - 1; i < polygon.size(); j = i++) {
            P a = polygon.get(i), b = polygon.get(j);
            if (a.y() > q.y() != b.y() > q.y() && q.x() < (b.x() - a.x()) * (q.y() - a.y()) / (b.y() - a.y()) + a.x()) in = !in;
        }
        return in;
    }

    public static void main(String[] args) {
        var random = new Random(3);
        var cloud = Stream.generate(() -> new P(random.nextInt(10_000), random.nextInt(10_000))).limit(2000).sorted(Comparator.comparingDouble(P::x)).toList();
        double best = Double.MAX_VALUE;
        for (int i = 0; i < 2000; i++) for (int j = i + 1; j < 2000; j++) best = Math.min(best, cloud.get(i).to(cloud.get(j)));
        System.out.printf(Locale.ROOT, "closest %.6f %b%n", closest(cloud), closest(cloud) == best);
        var star = IntStream.range(0, 10).mapToObj(i -> new P(12 + (i % 2 == 0 ? 10 : 4) * Math.cos(i * Math.PI / 5 + 0.1), 11 + (i % 2 == 0 ? 10 : 4) * Math.sin(i * Math.PI / 5 + 0.1))).toList();
        for (int y = 21; y > 0; y -= 2) {
            int row = y;
            System.out.println(IntStream.range(0, 24).mapToObj(x -> inside(star, new P(x + 0.01, row)) ? "✦" : " ").collect(Collectors.joining()).stripTrailing());
        }
        double twice = IntStream.range(0, 10).mapToDouble(i -> star.get(i).x() * star.get((i + 1) % 10).y() - star.get(i).y() * star.get((i + 1) % 10).x()).sum();
        System.out.printf(Locale.ROOT, "area %.6f%n", twice / 2);
        System.out.println(Line2D.linesIntersect(0, 0, 4, 4, 0, 4, 4, 0) + " " + Line2D.linesIntersect(0, 0, 1, 1, 2, 2, 3, 4) + " " + Line2D.ptSegDist(0, 0, 10, 0, 5, 3) + " " + new Rectangle2D.Double(0, 0, 4, 4).createIntersection(new Rectangle2D.Double(2, 1, 4, 4)).getWidth());
        Point2D turned = AffineTransform.getRotateInstance(Math.PI / 2).transform(new Point2D.Double(3, 1), null);
        System.out.printf(Locale.ROOT, "turned %.3f %.3f%n", turned.getX(), turned.getY());
    }
}
