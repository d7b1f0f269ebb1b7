import java.util.*;
import java.util.stream.*;

/** Roman numerals as an enumeration with validation. */
public enum Roman {
    M(1000), CM(900), D(500), CD(400), C(100), XC(90), L(50), XL(40), X(10), IX(9), V(5), IV(4), I(1);

    private final int value;
    Roman(int value) { this.value = value; }

    static String format(int n) {
        if (n < 1 || n > 3999) throw new IllegalArgumentException(n + " has no Roman numeral");
        var out = new StringBuilder();
        for (Roman r : values()) for (; n >= r.value; n -= r.value) out.append(r);
        return out.toString();
    }

    static int parse(String text) {
        int total = 0;
        String rest = text;
        for (Roman r : values()) for (; rest.startsWith(r.name()); rest = rest.substring(r.name().length())) total += r.value;
        if (!rest.isEmpty() || total < 1 || total > 3999 || !format(total).equals(text)) throw new IllegalArgumentException("not a Roman numeral: " + text);
        return total;
    }

    public static void main(String[] args) {
        for (int n : new int[] {1, 4, 9, 14, 40, 90, 444, 1994, 2024, 3999}) System.out.println(n + " " + format(n));
        System.out.println("round trips: " + IntStream.rangeClosed(1, 3999).allMatch(n -> parse(format(n)) == n));
        System.out.println("longest: " + IntStream.rangeClosed(1, 3999).mapToObj(Roman::format).max(Comparator.comparingInt(String::length)).orElseThrow());
        System.out.println(Stream.of("X", "IX", "V", "M", "CD").sorted(Comparator.comparingInt(Roman::parse)).toList());
        for (String bad : List.of("IIII", "IC", "", "xiv", "MMMM", "ⅩⅡ")) {
            try {
                System.out.println(parse(bad));
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
        }
        System.out.println(Roman.valueOf("XC").value + " " + CM.compareTo(D) + " " + EnumSet.range(C, X));
    }
}
