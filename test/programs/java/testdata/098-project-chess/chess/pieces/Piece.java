package chess.pieces;

import chess.board.Board;
import chess.board.Square;
import java.util.Arrays;
import java.util.stream.Stream;

public abstract class Piece {
    private final boolean white;
    private final String symbols;

    Piece(boolean white, String symbols) {
        this.white = white;
        this.symbols = symbols;
    }

    public static Piece of(char c) {
        boolean white = Character.isUpperCase(c);
        return switch (Character.toLowerCase(c)) {
            case 'p' -> new Pawn(white);
            case 'n' -> new Stepper(white, "♘♞", Stepper.JUMPS, 1);
            case 'b' -> new Stepper(white, "♗♝", Stepper.DIAGONAL, 7);
            case 'r' -> new Stepper(white, "♖♜", Stepper.STRAIGHT, 7);
            case 'q' -> new Stepper(white, "♕♛", Stepper.ALL, 7);
            case 'k' -> new Stepper(white, "♔♚", Stepper.ALL, 1);
            default -> throw new IllegalArgumentException("no piece " + c);
        };
    }

    public boolean white() { return white; }
    public String symbol() { return symbols.substring(white ? 0 : 1, white ? 1 : 2); }
    public abstract Stream<Square> moves(Board board, Square from);
}

final class Stepper extends Piece {
    static final int[][] STRAIGHT = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    static final int[][] DIAGONAL = {{1, 1}, {1, -1}, {-1, 1}, {-1, -1}};
    static final int[][] ALL = Stream.concat(Arrays.stream(STRAIGHT), Arrays.stream(DIAGONAL)).toArray(int[][]::new);
    static final int[][] JUMPS = {{1, 2}, {2, 1}, {2, -1}, {1, -2}, {-1, -2}, {-2, -1}, {-2, 1}, {-1, 2}};
    private final int[][] steps;
    private final int reach;

    Stepper(boolean white, String symbols, int[][] steps, int reach) {
        super(white, symbols);
        this.steps = steps;
        this.reach = reach;
    }

    @Override public Stream<Square> moves(Board board, Square from) {
        Stream.Builder<Square> out = Stream.builder();
        for (int[] s : steps) {
            Square at = from;
            for (int i = 0; i < reach; i++) {
                at = at.plus(s[0], s[1]);
                if (!at.onBoard() || board.at(at) != null && board.at(at).white() == white()) break;
                out.add(at);
                if (board.at(at) != null) break;
            }
        }
        return out.build();
    }
}

final class Pawn extends Piece {
    Pawn(boolean white) { super(white, "♙♟"); }

    @Override public Stream<Square> moves(Board board, Square from) {
        int ahead = white() ? 1 : -1;
        Stream.Builder<Square> out = Stream.builder();
        Square one = from.plus(0, ahead), two = from.plus(0, 2 * ahead);
        if (one.onBoard() && board.at(one) == null) {
            out.add(one);
            if (from.rank() == (white() ? 1 : 6) && board.at(two) == null) out.add(two);
        }
        for (int side : new int[] {-1, 1}) {
            Square to = from.plus(side, ahead);
            if (to.onBoard() && board.at(to) != null && board.at(to).white() != white()) out.add(to);
        }
        return out.build();
    }
}
