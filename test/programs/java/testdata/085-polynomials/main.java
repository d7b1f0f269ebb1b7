import java.util.*;
import java.util.stream.*;

/** Polynomials over long coefficients: arithmetic, roots, derivative, printing. */
public final class Polynomial {
    private final long[] c;

    Polynomial(long... coefficients) {
        int n = coefficients.length;
        while (n > 1 && coefficients[n - 1] == 0) n--;
        c = Arrays.copyOf(coefficients, n);
    }

    private long at(int i) { return i < c.length ? c[i] : 0; }
    int degree() { return c.length - 1; }
    Polynomial plus(Polynomial o) { return new Polynomial(IntStream.range(0, Math.max(c.length, o.c.length)).mapToLong(i -> at(i) + o.at(i)).toArray()); }
    Polynomial negate() { return new Polynomial(Arrays.stream(c).map(x -> -x).toArray()); }
    Polynomial times(Polynomial o) {
        long[] out = new long[c.length + o.c.length - 1];
        for (int i = 0; i < c.length; i++) for (int j = 0; j < o.c.length; j++) out[i + j] = Math.addExact(out[i + j], Math.multiplyExact(c[i], o.c[j]));
        return new Polynomial(out);
    }
    Polynomial power(int n) { return n == 0 ? new Polynomial(1) : times(power(n - 1)); }
    long apply(long x) {
        long y = 0;
        for (int i = c.length - 1; i >= 0; i--) y = y * x + c[i];
        return y;
    }
    Polynomial derivative() { return c.length == 1 ? new Polynomial(0) : new Polynomial(IntStream.range(1, c.length).mapToLong(i -> i * c[i]).toArray()); }

    @Override public boolean equals(Object o) { return o instanceof Polynomial p && Arrays.equals(c, p.c); }
    @Override public int hashCode() { return Arrays.hashCode(c); }
    @Override public String toString() {
        var out = new StringBuilder();
        for (int i = c.length - 1; i >= 0; i--) {
            if (c[i] == 0 && c.length > 1) continue;
            String power = i == 0 ? "" : i == 1 ? "x" : "x" + String.valueOf(i).chars().mapToObj(d -> String.valueOf("⁰¹²³⁴⁵⁶⁷⁸⁹".charAt(d - '0'))).collect(Collectors.joining());
            out.append(c[i] < 0 ? " - " : out.isEmpty() ? "" : " + ").append(Math.abs(c[i]) == 1 && i > 0 ? "" : String.valueOf(Math.abs(c[i]))).append(power);
        }
        return out.toString().strip();
    }

    public static void main(String[] args) {
        var p = new Polynomial(-6, 11, -6, 1);
        var q = new Polynomial(-2, 1);
        System.out.println(p + " | " + q + " | " + p.plus(q) + " | " + p.times(q) + " | " + p.plus(p.negate()));
        System.out.println(p.derivative() + " | roots " + LongStream.rangeClosed(-10, 10).filter(x -> p.apply(x) == 0).boxed().toList() + " | degree " + p.times(p).degree());
        System.out.println(new Polynomial(1, 1).power(12));
        System.out.println(q.times(new Polynomial(-1, 1)).times(new Polynomial(-3, 1)).equals(p) + " " + new Polynomial(0, 0).equals(new Polynomial(0)));
        try {
            new Polynomial(Long.MAX_VALUE).times(new Polynomial(2));
        } catch (ArithmeticException e) {
            System.out.println(e.getMessage());
        }
    }
}
