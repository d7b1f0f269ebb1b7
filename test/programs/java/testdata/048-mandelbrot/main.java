import java.util.*;
import java.util.stream.*;

/** The Mandelbrot set drawn by parallel streams, its area by counting. */
public class Mandelbrot {
    static int escape(double cx, double cy, int limit) {
        double x = 0, y = 0;
        int n = 0;
        for (; n < limit && x * x + y * y < 4; n++) {
            double t = x * x - y * y + cx;
            y = 2 * x * y + cy;
            x = t;
        }
        return n;
    }

    public static void main(String[] args) {
        String shades = " .:-=+*#%@";
        List<String> rows = IntStream.range(0, 25).parallel().mapToObj(r -> IntStream.range(0, 76).mapToObj(c -> String.valueOf(shades.charAt(Math.min(9, escape(-2.2 + c * 3.2 / 75, -1.2 + r * 2.4 / 24, 60) / 6)))).collect(Collectors.joining()).stripTrailing()).toList();
        rows.forEach(System.out::println);
        int n = 500;
        long inside = IntStream.range(0, n).parallel().mapToLong(i -> IntStream.range(0, n / 2).filter(j -> escape(-2 + (i + 0.5) * 2.5 / n, (j + 0.5) * 2.5 / n, 200) == 200).count()).sum();
        System.out.printf(Locale.ROOT, "area ≈ %.3f%n", 2 * inside * 2.5 * 2.5 / n / n);
    }
}
