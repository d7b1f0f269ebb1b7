import java.util.Arrays;

class Canvas {
    private final String[][] cells;

    Canvas(int width, int height) {
        cells = new String[height][width];
        for (String[] row : cells) Arrays.fill(row, "·");
    }

    void set(int x, int y, String c) {
        if (y >= 0 && y < cells.length && x >= 0 && x < cells[y].length) cells[y][x] = c;
    }

    @Override
    public String toString() {
        var out = new StringBuilder();
        for (String[] row : cells) out.append(String.join("", row)).append('\n');
        return out.toString();
    }
}
