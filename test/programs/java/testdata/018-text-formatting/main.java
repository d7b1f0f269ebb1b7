import java.text.MessageFormat;
import java.util.*;
import java.util.stream.*;

/** Text blocks, wrapping, justification, formats, transformations. */
public class Formatting {
    static String justify(List<String> words, int width) {
        if (words.size() == 1) return words.get(0);
        int gaps = words.size() - 1, spaces = width - words.stream().mapToInt(String::length).sum();
        var line = new StringBuilder(words.get(0));
        for (int i = 0; i < gaps; i++) line.append(" ".repeat(spaces / gaps + (i < spaces % gaps ? 1 : 0))).append(words.get(i + 1));
        return line.toString();
    }

    static List<String> wrap(String text, int width) {
        var lines = new ArrayList<String>();
        var current = new ArrayList<String>();
        int length = 0;
        for (String word : text.split("\\s+")) {
            if (length + current.size() + word.length() > width) {
                lines.add(justify(current, width));
                current.clear();
                length = 0;
            }
            current.add(word);
            length += word.length();
        }
        lines.add(String.join(" ", current));
        return lines;
    }

    public static void main(String[] args) {
        String text = """
            Whenever I find myself growing grim about the mouth; whenever it is a damp, \
            drizzly November in my soul – größer als sonst – I account it high time to get to sea as soon as I can.
            """;
        wrap(text, 36).forEach(line -> System.out.println("|" + line + " ".repeat(36 - line.length()) + "|"));
        System.out.printf(Locale.ROOT, "[%5d] [%-5d] [%05d] [%x] [%,d] [%+.2e] [%10.3f] [%s] [%10s] [%-10s] [%b] [%c] [%%]%n", 42, 42, 42, 255, 1234567, 12345.678, Math.PI, null, "é", "你好", true, 0x1F980);
        System.out.println(MessageFormat.format("{0} bought {1} for {2}, ''{0}'' again", "Ada", 3, "9.90"));
        System.out.println("  trim\t".strip() + "|" + "ab\ncd\n".lines().map(l -> ">" + l).collect(Collectors.joining("/")) + "|" + "x".repeat(3) + "|" + " \t".isBlank() + "|" + "a-b".replace('-', '+'));
        System.out.println("line one\n  line two".indent(2) + "<" + "%s is %d".formatted("π", 3) + "> " + "a,b;c".chars().filter(Character::isLetter).mapToObj(Character::toString).collect(Collectors.toList()));
        var joiner = new StringJoiner("; ", "{", "}").setEmptyValue("nothing");
        System.out.println(joiner + " " + joiner.add("one").add("zwei") + " " + "Mississippi".indexOf("ss", 3) + " " + "b".compareTo("a") + " " + "ß".toUpperCase(Locale.ROOT));
        String mirrored = "the quick fox".transform(s -> Arrays.stream(s.split(" ")).map(w -> new StringBuilder(w).reverse().toString()).collect(Collectors.joining(" ")));
        System.out.println(mirrored);
    }
}
