import java.util.*;
import java.util.stream.*;

/** Life on an unbounded plane of records; a gun counts its gliders. */
public class Life {
    record Cell(int x, int y) {
        Stream<Cell> around() {
            return IntStream.rangeClosed(-1, 1).boxed().flatMap(dx -> IntStream.rangeClosed(-1, 1).filter(dy -> dx != 0 || dy != 0).mapToObj(dy -> new Cell(x + dx, y + dy)));
        }
    }

    static Set<Cell> step(Set<Cell> alive) {
        Map<Cell, Long> counts = alive.stream().flatMap(Cell::around).collect(Collectors.groupingBy(c -> c, Collectors.counting()));
        return counts.entrySet().stream().filter(e -> e.getValue() == 3 || e.getValue() == 2 && alive.contains(e.getKey())).map(Map.Entry::getKey).collect(Collectors.toSet());
    }

    static Set<Cell> parse(String picture) {
        String[] rows = picture.split("\n");
        var cells = new HashSet<Cell>();
        for (int y = 0; y < rows.length; y++) for (int x = 0; x < rows[y].length(); x++) if (rows[y].charAt(x) == 'O') cells.add(new Cell(x, y));
        return cells;
    }

    static String draw(Set<Cell> cells, int width, int height) {
        return IntStream.range(0, height).mapToObj(y -> IntStream.range(0, width).mapToObj(x -> cells.contains(new Cell(x, y)) ? "█" : "·").collect(Collectors.joining())).collect(Collectors.joining("\n"));
    }

    public static void main(String[] args) {
        Set<Cell> gun = parse("""
            ........................O...........
            ......................O.O...........
            ............OO......OO............OO
            ...........O...O....OO............OO
            OO........O.....O...OO..............
            OO........O...O.OO....O.O...........
            ..........O.....O.......O...........
            ...........O...O....................
            ............OO......................
            """);
        int start = gun.size();
        for (int generation = 0; generation < 90; generation++) gun = step(gun);
        System.out.println(draw(gun, 50, 24));
        System.out.println("cells: " + start + " → " + gun.size() + ", gliders: " + (gun.size() - start) / 5);
        Set<Cell> blinker = parse("OOO");
        System.out.println("blinker: " + step(step(blinker)).equals(blinker) + " " + step(blinker).equals(blinker));
    }
}
