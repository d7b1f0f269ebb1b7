import java.util.*;
import java.util.stream.*;

/** Matrices of doubles: product, power, determinant, inverse by Gauss-Jordan. */
public final class Matrix {
    private final double[][] rows;

    Matrix(double[]... rows) { this.rows = Arrays.stream(rows).map(double[]::clone).toArray(double[][]::new); }

    static Matrix identity(int n) {
        double[][] r = new double[n][n];
        for (int i = 0; i < n; i++) r[i][i] = 1;
        return new Matrix(r);
    }

    Matrix times(Matrix o) {
        int n = rows.length, m = o.rows[0].length;
        double[][] out = new double[n][m];
        for (int i = 0; i < n; i++) for (int k = 0; k < o.rows.length; k++) for (int j = 0; j < m; j++) out[i][j] += rows[i][k] * o.rows[k][j];
        return new Matrix(out);
    }

    Matrix power(int e) { return e == 0 ? identity(rows.length) : e % 2 == 1 ? times(power(e - 1)) : times(this).power(e / 2); }

    Optional<Matrix> inverse() {
        int n = rows.length;
        double[][] a = new Matrix(rows).rows, b = identity(n).rows;
        for (int c = 0; c < n; c++) {
            int p = c;
            for (int r = c; r < n; r++) if (Math.abs(a[r][c]) > Math.abs(a[p][c])) p = r;
            if (Math.abs(a[p][c]) < 1e-12) return Optional.empty();
            double[] t = a[p]; a[p] = a[c]; a[c] = t;
            t = b[p]; b[p] = b[c]; b[c] = t;
            double pivot = a[c][c];
            for (int j = 0; j < n; j++) { a[c][j] /= pivot; b[c][j] /= pivot; }
            for (int r = 0; r < n; r++) {
                double k = a[r][c];
                if (r != c) for (int j = 0; j < n; j++) { a[r][j] -= k * a[c][j]; b[r][j] -= k * b[c][j]; }
            }
        }
        return Optional.of(new Matrix(b));
    }

    double determinant() {
        if (rows.length == 1) return rows[0][0];
        double sum = 0;
        for (int c = 0; c < rows.length; c++) {
            int skip = c;
            double[][] minor = Arrays.stream(rows).skip(1).map(r -> IntStream.range(0, r.length).filter(j -> j != skip).mapToDouble(j -> r[j]).toArray()).toArray(double[][]::new);
            sum += (c % 2 == 0 ? 1 : -1) * rows[0][c] * new Matrix(minor).determinant();
        }
        return sum;
    }

    @Override public String toString() {
        return Arrays.stream(rows).map(r -> Arrays.stream(r).mapToObj(x -> String.format(Locale.ROOT, "%8.3f", x + 0.0 == 0 ? 0.0 : x)).collect(Collectors.joining(" "))).collect(Collectors.joining("\n"));
    }

    public static void main(String[] args) {
        var m = new Matrix(new double[] {2, -1, 0}, new double[] {-1, 2, -1}, new double[] {0, -1, 2});
        System.out.println(m.inverse().orElseThrow());
        System.out.printf(Locale.ROOT, "det %.1f, singular: %b%n", m.determinant(), new Matrix(new double[] {1, 2}, new double[] {2, 4}).inverse().isEmpty());
        System.out.println(m.power(5));
        System.out.printf(Locale.ROOT, "F(70) = %.0f%n", new Matrix(new double[] {1, 1}, new double[] {1, 0}).power(70).rows[0][1]);
        double[][] big = new double[150][150];
        for (int i = 0; i < 150; i++) for (int j = 0; j < 150; j++) big[i][j] = (i * 31 + j * 17) % 23 + (i == j ? 500 : 0);
        Matrix product = new Matrix(big).times(new Matrix(big).inverse().orElseThrow());
        double worst = 0;
        for (int i = 0; i < 150; i++) for (int j = 0; j < 150; j++) worst = Math.max(worst, Math.abs(product.rows[i][j] - (i == j ? 1 : 0)));
        System.out.println("150 × 150 inverse is right: " + (worst < 1e-9));
    }
}
