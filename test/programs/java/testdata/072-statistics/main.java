import java.util.*;
import java.util.stream.*;

/** Descriptive statistics, regression and a histogram of standard input. */
public class Statistics {
    static double mean(double[] a) { return Arrays.stream(a).average().orElse(Double.NaN); }
    static double deviation(double[] a) {
        double m = mean(a);
        return Math.sqrt(Arrays.stream(a).map(x -> (x - m) * (x - m)).sum() / (a.length - 1));
    }
    static double quantile(double[] sorted, double q) {
        double at = q * (sorted.length - 1);
        int low = (int) at;
        return low + 1 < sorted.length ? sorted[low] + (at - low) * (sorted[low + 1] - sorted[low]) : sorted[low];
    }

    public static void main(String[] args) {
        var values = new ArrayList<Double>();
        var in = new Scanner(System.in, "UTF-8");
        for (int n = 1; in.hasNextLine(); n++) {
            String text = in.nextLine().replaceFirst("#.*", "").strip().replace(',', '.');
            if (text.isEmpty()) continue;
            try {
                values.add(Double.valueOf(text));
            } catch (NumberFormatException e) {
                System.out.println("line " + n + " is no number: " + text);
            }
        }
        double[] data = values.stream().mapToDouble(d -> d).toArray(), sorted = data.clone();
        Arrays.sort(sorted);
        System.out.printf(Locale.ROOT, "n %d, mean %.3f, sd %.3f, quartiles %.2f %.2f %.2f%n", data.length, mean(data), deviation(data), quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75));
        Map<Integer, Long> bins = values.stream().collect(Collectors.groupingBy(v -> (int) Math.floor(v / 10) * 10, TreeMap::new, Collectors.counting()));
        bins.forEach((from, n) -> System.out.printf("%3d… %s%n", from, "▇".repeat(n.intValue())));
        double mx = (data.length - 1) / 2.0, my = mean(data);
        double slope = IntStream.range(0, data.length).mapToDouble(i -> (i - mx) * (data[i] - my)).sum() / IntStream.range(0, data.length).mapToDouble(i -> (i - mx) * (i - mx)).sum();
        System.out.printf(Locale.ROOT, "trend %.4f per step, from %.3f%n", slope, my - slope * mx);
        System.out.println("moving: " + IntStream.rangeClosed(0, data.length - 4).mapToObj(i -> String.format(Locale.ROOT, "%.2f", Arrays.stream(data, i, i + 4).average().getAsDouble())).collect(Collectors.joining(" ")));
    }
}
