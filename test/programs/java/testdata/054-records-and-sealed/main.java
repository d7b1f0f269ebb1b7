import java.util.*;

/** Algebraic data: sealed shapes, nested records, validation, pattern matching. */
public class Shapes {
    sealed interface Shape permits Circle, Rectangle, Group {}
    record Point(double x, double y) {
        static final Point ORIGIN = new Point(0, 0);
        Point { if (Double.isNaN(x) || Double.isNaN(y)) throw new IllegalArgumentException("not a number"); }
        Point(double both) { this(both, both); }
    }
    record Circle(Point centre, double radius) implements Shape {
        Circle { if (radius < 0) throw new IllegalArgumentException("radius " + radius); }
    }
    record Rectangle(Point low, Point high) implements Shape {}
    record Group(String name, List<Shape> members) implements Shape {
        Group { members = List.copyOf(members); }
    }
    record Pair<A, B>(A first, B second) {
        <C> Pair<A, C> with(C other) { return new Pair<>(first, other); }
        static <T> Pair<T, T> twice(T t) { return new Pair<>(t, t); }
    }

    static double area(Shape shape) {
        if (shape instanceof Circle c) return Math.PI * c.radius() * c.radius();
        if (shape instanceof Rectangle r && r.low().x() <= r.high().x()) return (r.high().x() - r.low().x()) * (r.high().y() - r.low().y());
        if (shape instanceof Group g) return g.members().stream().mapToDouble(Shapes::area).sum();
        return 0;
    }

    static String describe(Object o) {
        return o instanceof Integer i && i > 9 ? "big " + i : o instanceof String s && !s.isEmpty() ? "text " + s : o instanceof int[] a ? "ints " + a.length : o == null ? "nothing" : "other " + o;
    }

    public static void main(String[] args) {
        var scene = new Group("Szene 景", List.of(new Circle(Point.ORIGIN, 1), new Rectangle(new Point(1), new Point(3, 4)), new Group("leer", List.of())));
        System.out.println(scene);
        System.out.printf(Locale.ROOT, "%.6f%n", area(scene));
        System.out.println(new Point(1, 2).equals(new Point(1, 2)) + " " + new Point(0.0, 0).equals(new Point(-0.0, 0)) + " " + (new Point(1, 2).hashCode() == new Point(1, 2).hashCode()));
        System.out.println(Pair.twice("é").with(42) + " " + new Pair<>(null, List.of()));
        for (Object o : new Object[] {5, 50, "", "🦀", new int[3], null, 'c'}) System.out.print(describe(o) + "; ");
        System.out.println();
        for (Runnable bad : List.<Runnable>of(() -> new Circle(Point.ORIGIN, -1), () -> new Point(Double.NaN), () -> scene.members().clear())) {
            try {
                bad.run();
            } catch (RuntimeException e) {
                System.out.println(e.getClass().getSimpleName() + " " + e.getMessage());
            }
        }
        record Local(int a) { int twice() { return 2 * a; } }
        System.out.println(new Local(21).twice() + " " + Local.class.isRecord() + " " + Shape.class.isSealed() + " " + Arrays.stream(Pair.class.getRecordComponents()).map(c -> c.getName()).toList());
    }
}
