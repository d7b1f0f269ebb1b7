import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

/** Reads quoted CSV, sums by region, writes a CSV file and reads it back. */
public class CsvReport {
    record Sale(String region, String product, int units, double price) {
        double total() { return units * price; }
    }

    static List<String> fields(String line) {
        var out = new ArrayList<String>();
        var field = new StringBuilder();
        boolean quoted = false;
        for (int i = 0; i < line.length(); i++) {
            char c = line.charAt(i);
            if (c == '"' && quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                field.append('"');
                i++;
            } else if (c == '"') quoted = !quoted;
            else if (c == ',' && !quoted) {
                out.add(field.toString());
                field.setLength(0);
            } else field.append(c);
        }
        out.add(field.toString());
        return out;
    }

    static String quote(String field) { return field.matches(".*[\",].*") ? '"' + field.replace("\"", "\"\"") + '"' : field; }

    public static void main(String[] args) throws IOException {
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        List<Sale> sales = in.lines().skip(1).map(CsvReport::fields).map(f -> new Sale(f.get(0), f.get(1), Integer.parseInt(f.get(2)), Double.parseDouble(f.get(3)))).toList();
        Map<String, DoubleSummaryStatistics> byRegion = sales.stream().collect(Collectors.groupingBy(Sale::region, TreeMap::new, Collectors.summarizingDouble(Sale::total)));
        byRegion.forEach((region, s) -> System.out.printf(Locale.ROOT, "%-14s %d sales, sum %9.2f, best %8.2f%n", region, s.getCount(), s.getSum(), s.getMax()));
        Path file = Path.of("report.csv");
        Files.write(file, sales.stream().sorted(Comparator.comparingDouble(Sale::total).reversed()).map(s -> quote(s.region()) + "," + quote(s.product()) + "," + String.format(Locale.ROOT, "%.2f", s.total())).toList());
        for (String line : Files.readAllLines(file)) System.out.println(fields(line) + " ← " + line);
        Files.delete(file);
    }
}
