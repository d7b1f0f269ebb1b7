import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/** Regular expressions: groups, look-around, replacement by function, flags. */
public class RegexTour {
    private static final String LOG = """
        2024-03-01 08:15:00 ERROR [db] timeout after 3000 ms
        2024-03-01 08:15:07 INFO [web] GET /käse 200
        damaged line
        2024-03-02 23:59:59 WARN [db] slow query: 850 ms
        """;

    public static void main(String[] args) {
        Pattern line = Pattern.compile("^(?<date>\\d{4}-\\d\\d-\\d\\d) (?<time>[\\d:]+) (?<level>[A-Z]+) \\[(?<part>\\w+)] (?<text>.*)$", Pattern.MULTILINE);
        Matcher m = line.matcher(LOG);
        while (m.find()) System.out.printf("%-5s %-4s %s (%d)%n", m.group("level"), m.group("part"), m.group("text"), m.start());
        System.out.println(Pattern.compile("\\d+(?= ms)").matcher(LOG).results().map(MatchResult::group).collect(Collectors.joining("+")));
        System.out.println(Pattern.compile("(\\d+)-(\\d+)-(\\d+)").matcher("on 2024-03-01").replaceAll("$3.$2.$1"));
        System.out.println(Pattern.compile("\\b\\p{L}").matcher("élan vital 你好 ñandú").replaceAll(r -> r.group().toUpperCase()));
        System.out.println(Arrays.toString("a1b22c333".split("(?<=\\d)(?=\\D)")) + Arrays.toString("x,,y,".split(",", -1)));
        System.out.println("ÄPFEL".matches("(?iu)äpfel") + " " + "ÄPFEL".matches("(?i)äpfel") + " " + "🦀".matches(".") + " " + "1,234,567".replaceAll(",(?=\\d{3})", ""));
        Matcher twice = Pattern.compile("\\b(\\w+) \\1\\b").matcher("it was the the best of of times");
        System.out.println(twice.results().map(r -> r.group(1)).toList());
        System.out.println("(a|b)*c".replaceAll(Pattern.quote("|"), Matcher.quoteReplacement("$or$")));
        for (String bad : List.of("(", "[z-a]", "*a")) {
            try {
                Pattern.compile(bad);
            } catch (PatternSyntaxException e) {
                System.out.println(bad + " is broken at " + e.getIndex());
            }
        }
    }
}
