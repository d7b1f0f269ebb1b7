import java.util.*;

/** Carves a maze with a seed and walks out by breadth-first search. */
public class Maze {
    private static final int[][] STEPS = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    private final char[][] grid;
    private final Random random = new Random(17);

    Maze(int width, int height) {
        grid = new char[2 * height + 1][2 * width + 1];
        for (char[] row : grid) Arrays.fill(row, '█');
        carve(1, 1);
    }

    private void carve(int x, int y) {
        grid[y][x] = ' ';
        var steps = new ArrayList<>(List.of(STEPS));
        Collections.shuffle(steps, random);
        for (int[] s : steps) {
            int nx = x + 2 * s[0], ny = y + 2 * s[1];
            if (ny > 0 && ny < grid.length && nx > 0 && nx < grid[0].length && grid[ny][nx] != ' ') {
                grid[y + s[1]][x + s[0]] = ' ';
                carve(nx, ny);
            }
        }
    }

    int solve() {
        record Cell(int x, int y) {}
        Map<Cell, Cell> from = new HashMap<>();
        var start = new Cell(1, 1);
        var goal = new Cell(grid[0].length - 2, grid.length - 2);
        Deque<Cell> queue = new ArrayDeque<>(List.of(start));
        from.put(start, null);
        while (!queue.isEmpty()) {
            Cell c = queue.poll();
            for (int[] s : STEPS) {
                var next = new Cell(c.x() + s[0], c.y() + s[1]);
                if (grid[next.y()][next.x()] == ' ' && !from.containsKey(next)) {
                    from.put(next, c);
                    queue.add(next);
                }
            }
        }
        int steps = -1;
        for (Cell c = goal; c != null; c = from.get(c), steps++) grid[c.y()][c.x()] = '•';
        return steps;
    }

    public static void main(String[] args) {
        var maze = new Maze(24, 8);
        int steps = maze.solve();
        for (char[] row : maze.grid) System.out.println(row);
        System.out.println(steps + " steps");
    }
}
