import java.util.*;

/** Perfect play by negamax with a memory on bit boards. */
public class TicTacToe {
    private static final int[] LINES = {7, 56, 448, 73, 146, 292, 273, 84};
    private static final Map<Integer, Integer> MEMORY = new HashMap<>();

    static boolean won(int board) {
        for (int line : LINES) if ((board & line) == line) return true;
        return false;
    }

    static int value(int mine, int theirs) {
        if (won(theirs)) return -1;
        if ((mine | theirs) == 511) return 0;
        Integer known = MEMORY.get(mine << 9 | theirs);
        if (known != null) return known;
        int best = -1;
        for (int cell = 0; cell < 9; cell++) if (((mine | theirs) >> cell & 1) == 0) best = Math.max(best, -value(theirs, mine | 1 << cell));
        MEMORY.put(mine << 9 | theirs, best);
        return best;
    }

    static int best(int mine, int theirs) {
        int move = -1, score = -2;
        for (int cell = 0; cell < 9; cell++) {
            if (((mine | theirs) >> cell & 1) == 1) continue;
            int v = -value(theirs, mine | 1 << cell);
            if (v > score) {
                score = v;
                move = cell;
            }
        }
        return move;
    }

    public static void main(String[] args) {
        int[] boards = new int[2];
        for (int turn = 0; turn < 9 && !won(boards[0]) && !won(boards[1]); turn++) {
            int me = turn % 2;
            boards[me] |= 1 << best(boards[me], boards[1 - me]);
            var line = new StringBuilder();
            for (int c = 0; c < 9; c++) line.append(boards[0] >> c & 1).append(boards[1] >> c & 1).append(c % 3 == 2 ? "/" : "");
            System.out.println(line.toString().replace("10", "×").replace("01", "○").replace("00", "·"));
        }
        System.out.println(won(boards[0]) ? "× wins" : won(boards[1]) ? "○ wins" : "a draw");
        System.out.println("win taken: " + best(0b11, 0b11000) + ", threat parried: " + best(0b10000, 0b11) + ", positions: " + MEMORY.size());
    }
}
