import java.util.*;

/** Works until an exception that nobody catches ends it. */
public class Uncaught {
    static int take(Map<String, Integer> stock, String name) {
        int left = stock.merge(name, -1, Integer::sum);
        if (left < 0) throw new IllegalStateException("keine " + name + " mehr");
        return left;
    }

    public static void main(String[] args) {
        var stock = new TreeMap<>(Map.of("Äpfel", 2, "Birnen", 0));
        for (String name : List.of("Äpfel", "Äpfel", "Birnen", "Äpfel")) System.out.println(name + " " + take(stock, name));
    }
}
