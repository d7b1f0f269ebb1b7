package data.structures;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

public final class Matrix<T> {
    private final int rows, columns;
    private final List<T> cells = new ArrayList<>();

    public Matrix(int rows, int columns, BiFunction<Integer, Integer, ? extends T> cell) {
        this.rows = rows;
        this.columns = columns;
        for (int i = 0; i < rows; i++) for (int j = 0; j < columns; j++) cells.add(cell.apply(i, j));
    }

    public T get(int row, int column) {
        if (row < 0 || row >= rows || column < 0 || column >= columns) throw new IndexOutOfBoundsException("no cell " + row + "," + column);
        return cells.get(row * columns + column);
    }

    public Matrix<T> transpose() { return new Matrix<>(columns, rows, (i, j) -> get(j, i)); }
    public <R> Matrix<R> map(Function<? super T, ? extends R> f) { return new Matrix<>(rows, columns, (i, j) -> f.apply(get(i, j))); }

    @Override public String toString() {
        var out = new ArrayList<String>();
        for (int i = 0; i < rows; i++) out.add(cells.subList(i * columns, (i + 1) * columns).toString());
        return String.join("/", out);
    }
}
