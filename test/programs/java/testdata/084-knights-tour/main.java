import java.util.*;
import java.util.stream.*;

/** A knight's tour by Warnsdorff's rule, and distances by breadth-first search. */
public class Knight {
    private static final int[][] JUMPS = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};

    static List<int[]> onward(int[][] board, int x, int y) {
        return Arrays.stream(JUMPS).map(j -> new int[] {x + j[0], y + j[1]}).filter(c -> c[0] >= 0 && c[1] >= 0 && c[0] < board.length && c[1] < board.length && board[c[0]][c[1]] == 0).toList();
    }

    static int[][] tour(int size) {
        int[][] board = new int[size][size];
        int[] at = {0, 0};
        for (int step = 1; ; step++) {
            board[at[0]][at[1]] = step;
            Optional<int[]> next = onward(board, at[0], at[1]).stream().min(Comparator.comparingInt(c -> onward(board, c[0], c[1]).size()));
            if (next.isEmpty()) return board;
            at = next.get();
        }
    }

    public static void main(String[] args) {
        for (int size : new int[] {5, 8}) {
            int[][] board = tour(size);
            for (int[] row : board) System.out.println(Arrays.stream(row).mapToObj(n -> String.format("%2d", n)).collect(Collectors.joining(" ")));
            System.out.println("complete: " + (Arrays.stream(board).flatMapToInt(Arrays::stream).distinct().count() == (long) size * size && Arrays.stream(board).flatMapToInt(Arrays::stream).min().getAsInt() == 1));
        }
        int[][] steps = new int[8][8];
        for (int[] row : steps) Arrays.fill(row, -1);
        steps[0][0] = 0;
        Deque<int[]> queue = new ArrayDeque<>(List.of(new int[] {0, 0}));
        while (!queue.isEmpty()) {
            int[] c = queue.poll();
            for (int[] j : JUMPS) {
                int x = c[0] + j[0], y = c[1] + j[1];
                if (x >= 0 && y >= 0 && x < 8 && y < 8 && steps[x][y] < 0) {
                    steps[x][y] = steps[c[0]][c[1]] + 1;
                    queue.add(new int[] {x, y});
                }
            }
        }
        for (int[] row : steps) System.out.println(Arrays.stream(row).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
        System.out.println("♞ to the corner in " + steps[7][7]);
    }
}
