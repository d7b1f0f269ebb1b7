import java.math.*;
import java.util.*;

/** Money and precision: rounding modes, interest, shares, e to fifty digits. */
public class Decimals {
    static List<BigDecimal> share(BigDecimal amount, int parts) {
        BigDecimal each = amount.divide(BigDecimal.valueOf(parts), 2, RoundingMode.DOWN);
        BigDecimal rest = amount.subtract(each.multiply(BigDecimal.valueOf(parts)));
        var shares = new ArrayList<>(Collections.nCopies(parts, each));
        for (int i = 0; rest.signum() > 0; i++, rest = rest.subtract(new BigDecimal("0.01"))) shares.set(i, each.add(new BigDecimal("0.01")));
        return shares;
    }

    public static void main(String[] args) {
        for (String text : List.of("2.5", "-2.5", "1.15", "0.005")) {
            var line = new StringJoiner(" ", String.format("%6s: ", text), "");
            for (RoundingMode mode : List.of(RoundingMode.HALF_UP, RoundingMode.HALF_EVEN, RoundingMode.FLOOR, RoundingMode.UP)) {
                line.add(mode + "=" + new BigDecimal(text).setScale(text.length() > 4 ? 2 : text.length() > 3 && !text.startsWith("-") ? 1 : 0, mode));
            }
            System.out.println(line);
        }
        System.out.println("0.1+0.2: " + new BigDecimal("0.1").add(new BigDecimal("0.2")) + ", equals ignores nothing: " + new BigDecimal("2.0").equals(new BigDecimal("2.00")) + " " + new BigDecimal("2.0").compareTo(new BigDecimal("2.00")));
        BigDecimal balance = new BigDecimal("1000.00");
        for (int year = 1; year <= 5; year++) {
            balance = balance.multiply(new BigDecimal("1.035")).setScale(2, RoundingMode.HALF_EVEN);
            System.out.printf(Locale.ROOT, "year %d: %,10.2f €%n", year, balance);
        }
        System.out.println(share(new BigDecimal("100.00"), 7));
        var context = new MathContext(55);
        BigDecimal e = BigDecimal.ONE, term = BigDecimal.ONE;
        for (int n = 1; n < 60; n++) e = e.add(term = term.divide(BigDecimal.valueOf(n), context), context);
        System.out.println("e = " + e.round(new MathContext(51)));
        System.out.println("√2 = " + BigDecimal.valueOf(2).sqrt(new MathContext(40)) + " " + new BigDecimal("1E+3").toPlainString() + " " + new BigDecimal("0.000001234").stripTrailingZeros());
        try {
            BigDecimal.ONE.divide(BigDecimal.valueOf(3));
        } catch (ArithmeticException x) {
            System.out.println("one third never ends");
        }
    }
}
