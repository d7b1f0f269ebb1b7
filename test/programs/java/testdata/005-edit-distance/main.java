import java.util.*;

/** Levenshtein distance on code points, and the closest word of a list. */
public class EditDistance {
    static int distance(String left, String right) {
        int[] a = left.codePoints().toArray(), b = right.codePoints().toArray();
        int[] row = new int[b.length + 1];
        for (int j = 0; j <= b.length; j++) row[j] = j;
        for (int i = 1; i <= a.length; i++) {
            int diagonal = row[0]++;
            for (int j = 1; j <= b.length; j++) {
                int cost = Math.min(diagonal + (a[i - 1] == b[j - 1] ? 0 : 1), Math.min(row[j], row[j - 1]) + 1);
                diagonal = row[j];
                row[j] = cost;
            }
        }
        return row[b.length];
    }

    public static void main(String[] args) {
        String[][] pairs = {{"kitten", "sitting"}, {"", "abc"}, {"naïve", "native"}, {"你好世界", "你好世纪"}, {"🦀🐟", "🐟🦀🦀"}, {"same", "same"}};
        for (String[] p : pairs) System.out.printf("%-10s %-10s %d%n", p[0], p[1], distance(p[0], p[1]));
        List<String> words = List.of("apple", "maple", "ample", "people", "purple");
        for (String typo : List.of("appel", "peple", "prupel")) {
            System.out.println(typo + " → " + Collections.min(words, Comparator.comparingInt((String w) -> distance(w, typo)).thenComparing(Comparator.naturalOrder())));
        }
    }
}
