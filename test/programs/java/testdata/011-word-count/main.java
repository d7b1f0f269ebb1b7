import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.regex.*;
import java.util.stream.*;

/** Word frequencies of standard input with streams. */
public class WordCount {
    public static void main(String[] args) throws IOException {
        var reader = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<String> lines = reader.lines().toList();
        Pattern word = Pattern.compile("\\p{L}+");
        Map<String, Long> counts = lines.stream().flatMap(line -> word.matcher(line.toLowerCase(Locale.ROOT)).results()).map(MatchResult::group)
            .collect(Collectors.groupingBy(w -> w, TreeMap::new, Collectors.counting()));
        System.out.println(lines.size() + " lines, " + counts.values().stream().mapToLong(Long::longValue).sum() + " words, " + counts.size() + " different");
        counts.entrySet().stream().sorted(Map.Entry.<String, Long>comparingByValue().reversed().thenComparing(Map.Entry.comparingByKey())).limit(6)
            .forEach(e -> System.out.printf("%-8s %s %d%n", e.getKey(), "▪".repeat(e.getValue().intValue()), e.getValue()));
        System.out.println(counts.keySet().stream().collect(Collectors.partitioningBy(w -> w.chars().allMatch(c -> c < 128), Collectors.counting())));
        System.out.println(new TreeMap<>(counts.keySet().stream().collect(Collectors.groupingBy(String::length, Collectors.joining(",")))));
    }
}
