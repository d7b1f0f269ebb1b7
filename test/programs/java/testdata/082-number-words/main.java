import java.util.*;
import java.util.stream.*;

/** Numbers in English and German words, read back from English. */
public class NumberWords {
    private static final String[] ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(" ");
    private static final String[] TENS = "_ _ twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
    private static final Map<Long, String> SCALES = new LinkedHashMap<>();
    static {
        SCALES.put(1_000_000_000L, "billion");
        SCALES.put(1_000_000L, "million");
        SCALES.put(1000L, "thousand");
        SCALES.put(100L, "hundred");
    }

    static String english(long n) {
        if (n < 0) return "minus " + english(-n);
        if (n < 20) return ONES[(int) n];
        if (n < 100) return TENS[(int) n / 10] + (n % 10 > 0 ? "-" + ONES[(int) n % 10] : "");
        var scale = SCALES.entrySet().stream().filter(e -> n >= e.getKey()).findFirst().orElseThrow();
        long rest = n % scale.getKey();
        return english(n / scale.getKey()) + " " + scale.getValue() + (rest == 0 ? "" : (rest < 100 ? " and " : " ") + english(rest));
    }

    static long parse(String text) {
        long total = 0, group = 0;
        for (String word : text.replace("minus ", "").replace("-", " ").replace(" and ", " ").split(" ")) {
            int one = List.of(ONES).indexOf(word), ten = List.of(TENS).indexOf(word);
            if (one >= 0) group += one;
            else if (ten > 0) group += 10L * ten;
            else if (word.equals("hundred")) group *= 100;
            else {
                total += group * SCALES.entrySet().stream().filter(e -> e.getValue().equals(word)).map(Map.Entry::getKey).findFirst().orElseThrow();
                group = 0;
            }
        }
        return (text.startsWith("minus") ? -1 : 1) * (total + group);
    }

    static String german(int n) {
        String[] ones = "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf".split(" ");
        String[] tens = "_ zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split(" ");
        if (n < 13) return ones[n];
        if (n < 20) return (n == 16 ? "sech" : n == 17 ? "sieb" : ones[n - 10]) + "zehn";
        if (n < 100) return (n % 10 > 0 ? ones[n % 10] + "und" : "") + tens[n / 10];
        int unit = n < 1000 ? 100 : 1000;
        return german(n / unit) + (unit == 100 ? "hundert" : "tausend") + (n % unit > 0 ? german(n % unit) : "");
    }

    public static void main(String[] args) {
        for (long n : new long[] {0, 13, 21, 100, 342, 1001, 54321, 1_000_000, 2_147_483_647L, -15}) System.out.println(n + ": " + english(n));
        for (int n : new int[] {16, 17, 66, 102, 777, 8888, 21_012}) System.out.println(n + ": " + german(n));
        System.out.println(LongStream.range(-100, 30_000).allMatch(n -> parse(english(n)) == n) + " " + IntStream.rangeClosed(1, 1000).map(n -> english(n).replaceAll("[ -]", "").length()).sum());
    }
}
