package chess.board;

public record Square(int file, int rank) {
    public static Square of(String name) {
        if (!name.matches("[a-h][1-8]")) throw new IllegalArgumentException("no square " + name);
        return new Square(name.charAt(0) - 'a', name.charAt(1) - '1');
    }

    public Square plus(int df, int dr) { return new Square(file + df, rank + dr); }

    public boolean onBoard() { return file >= 0 && file < 8 && rank >= 0 && rank < 8; }

    @Override public String toString() { return "" + (char) ('a' + file) + (rank + 1); }
}
