import java.util.*;
import java.util.stream.*;

/** Pictures of characters: Sierpinski, a dragon, plasma, a bar chart and a clock. */
public class Drawings {
    static String draw(Set<List<Integer>> points) {
        var xs = points.stream().mapToInt(p -> p.get(0)).summaryStatistics();
        var ys = points.stream().mapToInt(p -> p.get(1)).summaryStatistics();
        return IntStream.rangeClosed(-ys.getMax(), -ys.getMin()).mapToObj(y -> IntStream.rangeClosed(xs.getMin(), xs.getMax()).mapToObj(x -> points.contains(List.of(x, -y)) ? "█" : " ").collect(Collectors.joining()).stripTrailing()).collect(Collectors.joining("\n"));
    }

    static Set<List<Integer>> dragon(int order) {
        var points = new HashSet<List<Integer>>();
        int x = 0, y = 0, dx = 1, dy = 0;
        for (int i = 1; i <= 1 << order; i++) {
            for (int k = 0; k < 2; k++) {
                points.add(List.of(x, y));
                x += dx;
                y += dy;
            }
            boolean left = ((i & -i) << 1 & i) != 0;
            int t = dx;
            dx = left ? -dy : dy;
            dy = left ? t : -t;
        }
        return points;
    }

    public static void main(String[] args) {
        for (int y = 15; y >= 0; y--) {
            int row = y;
            System.out.println(" ".repeat(y) + IntStream.range(0, 16 - y).mapToObj(x -> (x & row) == 0 ? "▲ " : "  ").collect(Collectors.joining()).stripTrailing());
        }
        System.out.println(draw(dragon(7)));
        String shades = " ░▒▓█";
        for (int y = 0; y < 10; y++) {
            int row = y;
            System.out.println(IntStream.range(0, 50).mapToObj(x -> String.valueOf(shades.charAt((int) (2.499 + 1.2 * Math.sin(x / 5.0) + 1.2 * Math.cos((row + x / 8.0) / 2.5))))).collect(Collectors.joining()).stripTrailing());
        }
        Map<String, Integer> data = new LinkedHashMap<>();
        data.put("größe", 9);
        data.put("長さ", 14);
        data.put("🦀", 5);
        data.forEach((k, v) -> System.out.printf("%-6s│%s %d%n", k, "▇".repeat(v * 2), v));
        var circle = new HashSet<List<Integer>>();
        for (int h = 0; h < 60; h++) circle.add(List.of((int) Math.round(14 * Math.sin(h * Math.PI / 30)), (int) Math.round(7 * Math.cos(h * Math.PI / 30))));
        for (int r = 0; r < 6; r++) circle.add(List.of(r * 2, r / 2));
        System.out.println(draw(circle));
    }
}
