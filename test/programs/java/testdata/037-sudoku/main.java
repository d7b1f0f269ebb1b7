import java.util.*;

/** Solves the boards of standard input by bit masks and backtracking. */
public class Sudoku {
    private final int[] cells = new int[81], rows = new int[9], columns = new int[9], boxes = new int[9];
    private int guesses;

    private static int box(int i) { return i / 27 * 3 + i % 9 / 3; }

    private int free(int i) { return 0x3fe & ~(rows[i / 9] | columns[i % 9] | boxes[box(i)]); }

    private void toggle(int i, int digit) {
        rows[i / 9] ^= 1 << digit;
        columns[i % 9] ^= 1 << digit;
        boxes[box(i)] ^= 1 << digit;
    }

    static Optional<Sudoku> read(String text) {
        var board = new Sudoku();
        for (int i = 0; i < 81; i++) {
            int digit = Math.max(0, Character.getNumericValue(text.charAt(i)));
            if (digit == 0) continue;
            if ((board.free(i) & 1 << digit) == 0) return Optional.empty();
            board.toggle(i, board.cells[i] = digit);
        }
        return Optional.of(board);
    }

    boolean solve() {
        int best = -1, fewest = 10;
        for (int i = 0; i < 81; i++) {
            if (cells[i] == 0 && Integer.bitCount(free(i)) < fewest) fewest = Integer.bitCount(free(best = i));
        }
        if (best < 0) return true;
        for (int options = free(best); options != 0; options &= options - 1) {
            int digit = Integer.numberOfTrailingZeros(options);
            guesses++;
            toggle(best, cells[best] = digit);
            if (solve()) return true;
            toggle(best, digit);
            cells[best] = 0;
        }
        return false;
    }

    public static void main(String[] args) {
        var in = new Scanner(System.in);
        while (in.hasNext()) {
            Optional<Sudoku> board = read(in.next());
            if (board.isEmpty() || !board.get().solve()) {
                System.out.println("no solution\n");
                continue;
            }
            for (int i = 0; i < 81; i++) System.out.print(board.get().cells[i] + (i % 9 == 8 ? "\n" : i % 3 == 2 ? " │ " : " "));
            System.out.println(board.get().guesses + " steps\n");
        }
    }
}
