package chess.board;

import chess.pieces.Piece;
import java.util.stream.IntStream;
import java.util.stream.Stream;

public final class Board {
    private final Piece[] cells;

    private Board(Piece[] cells) { this.cells = cells; }

    public static Board parse(String fen) {
        var cells = new Piece[64];
        int rank = 7, file = 0;
        for (char c : fen.toCharArray()) {
            if (c == '/') {
                rank--;
                file = 0;
            } else if (Character.isDigit(c)) file += c - '0';
            else cells[8 * rank + file++] = Piece.of(c);
        }
        return new Board(cells);
    }

    public Piece at(Square s) { return cells[8 * s.rank() + s.file()]; }

    public Board move(Square from, Square to) {
        Piece[] copy = cells.clone();
        copy[8 * to.rank() + to.file()] = at(from);
        copy[8 * from.rank() + from.file()] = null;
        return new Board(copy);
    }

    public Stream<Square> squares(boolean white) { return IntStream.range(0, 64).filter(i -> cells[i] != null && cells[i].white() == white).mapToObj(i -> new Square(i % 8, i / 8)); }

    @Override public String toString() {
        var out = new StringBuilder();
        for (int rank = 7; rank >= 0; rank--) {
            for (int file = 0; file < 8; file++) out.append(cells[8 * rank + file] == null ? "·" : cells[8 * rank + file].symbol()).append(file == 7 ? "\n" : " ");
        }
        return out.toString().stripTrailing();
    }
}
