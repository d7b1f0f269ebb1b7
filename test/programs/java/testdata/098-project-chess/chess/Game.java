package chess;

import chess.board.Board;
import chess.board.Square;
import chess.pieces.Piece;
import java.util.stream.Collectors;

/** Figures with their own moves, a board, and a count of positions. */
public class Game {
    static long count(Board board, boolean white, int depth) {
        if (depth == 0) return 1;
        return board.squares(white).flatMap(from -> board.at(from).moves(board, from).map(to -> board.move(from, to))).mapToLong(next -> count(next, !white, depth - 1)).sum();
    }

    public static void main(String[] args) {
        Board board = Board.parse("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR");
        System.out.println(board);
        for (int depth = 1; depth <= 3; depth++) System.out.println(depth + ": " + count(board, true, depth));
        Board after = board.move(Square.of("e2"), Square.of("e4")).move(Square.of("d7"), Square.of("d5"));
        for (String name : new String[] {"e4", "f1", "g1", "d1", "e1"}) {
            Square square = Square.of(name);
            Piece piece = after.at(square);
            System.out.println(piece.symbol() + " " + name + " " + piece.moves(after, square).map(Square::toString).sorted().collect(Collectors.joining(" ")));
        }
        try {
            Square.of("z9");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
