/** Counts the solutions of the queens problem with bit masks and draws one. */
public class Queens {
    static int count(int all, int columns, int left, int right) {
        if (columns == all) return 1;
        int found = 0;
        for (int free = all & ~(columns | left | right); free != 0; free &= free - 1) {
            int bit = free & -free;
            found += count(all, columns | bit, (left | bit) << 1, (right | bit) >> 1);
        }
        return found;
    }

    static boolean place(int[] board, int row) {
        if (row == board.length) return true;
        search:
        for (int column = 0; column < board.length; column++) {
            for (int r = 0; r < row; r++) {
                if (board[r] == column || Math.abs(board[r] - column) == row - r) continue search;
            }
            board[row] = column;
            if (place(board, row + 1)) return true;
        }
        return false;
    }

    public static void main(String[] args) {
        for (int n = 1; n <= 10; n++) System.out.println(n + ": " + count((1 << n) - 1, 0, 0, 0));
        int[] board = new int[8];
        if (place(board, 0)) for (int column : board) System.out.println("·".repeat(column) + "♛" + "·".repeat(7 - column));
    }
}
