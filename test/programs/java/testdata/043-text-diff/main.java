import java.util.*;
import java.util.stream.*;

/** Differences by the longest common subsequence, as records. */
public class TextDiff {
    enum Kind { KEEP(" "), DROP("-"), ADD("+"); final String sign; Kind(String sign) { this.sign = sign; } }
    record Edit(Kind kind, String line) {
        @Override public String toString() { return kind.sign + " " + line; }
    }

    static List<Edit> diff(List<String> a, List<String> b) {
        int[][] best = new int[a.size() + 1][b.size() + 1];
        for (int i = a.size() - 1; i >= 0; i--) for (int j = b.size() - 1; j >= 0; j--) {
            best[i][j] = a.get(i).equals(b.get(j)) ? best[i + 1][j + 1] + 1 : Math.max(best[i + 1][j], best[i][j + 1]);
        }
        var edits = new ArrayList<Edit>();
        int i = 0, j = 0;
        while (i < a.size() || j < b.size()) {
            if (i < a.size() && j < b.size() && a.get(i).equals(b.get(j))) {
                edits.add(new Edit(Kind.KEEP, a.get(i++)));
                j++;
            } else if (j == b.size() || i < a.size() && best[i + 1][j] >= best[i][j + 1]) edits.add(new Edit(Kind.DROP, a.get(i++)));
            else edits.add(new Edit(Kind.ADD, b.get(j++)));
        }
        return edits;
    }

    static List<String> without(List<Edit> edits, Kind kind) { return edits.stream().filter(e -> e.kind() != kind).map(Edit::line).toList(); }

    public static void main(String[] args) {
        List<String> before = List.of("eggs", "milk", "bread", "butter", "jam", "茶"), after = List.of("eggs", "oat milk", "bread", "jam", "honig", "茶", "café");
        var edits = diff(before, after);
        edits.forEach(System.out::println);
        System.out.println(without(edits, Kind.ADD).equals(before) + " " + without(edits, Kind.DROP).equals(after));
        System.out.println(edits.stream().collect(Collectors.groupingBy(Edit::kind, () -> new EnumMap<>(Kind.class), Collectors.counting())));
        System.out.println(diff("ABCABBA".chars().mapToObj(Character::toString).toList(), "CBABAC".chars().mapToObj(Character::toString).toList()));
    }
}
