import java.util.*;
import java.util.function.*;
import java.util.stream.*;

/** Permutations, combinations, partitions, parentheses, Gray code, Pascal's triangle. */
public class Combinatorics {
    static void permute(List<String> rest, String done, Consumer<String> out) {
        if (rest.isEmpty()) out.accept(done);
        for (int i = 0; i < rest.size(); i++) {
            var less = new ArrayList<>(rest);
            permute(less, done + less.remove(i), out);
        }
    }

    static Stream<String> choose(String letters, int k) {
        if (k == 0) return Stream.of("");
        return IntStream.range(0, letters.length()).boxed().flatMap(i -> choose(letters.substring(i + 1), k - 1).map(s -> letters.charAt(i) + s));
    }

    static Stream<List<Integer>> partitions(int n, int most) {
        if (n == 0) return Stream.of(List.of());
        return IntStream.rangeClosed(1, Math.min(n, most)).map(i -> Math.min(n, most) + 1 - i).boxed().flatMap(k -> partitions(n - k, k).map(r -> Stream.concat(Stream.of(k), r.stream()).toList()));
    }

    static void parentheses(int open, int close, String text, List<String> out) {
        if (close == 0) out.add(text);
        if (open > 0) parentheses(open - 1, close, text + "(", out);
        if (close > open) parentheses(open, close - 1, text + ")", out);
    }

    static boolean next(int[] a) {
        int i = a.length - 2, j = a.length - 1;
        while (i >= 0 && a[i] >= a[i + 1]) i--;
        if (i < 0) return false;
        while (a[j] <= a[i]) j--;
        int t = a[i]; a[i] = a[j]; a[j] = t;
        for (int l = i + 1, r = a.length - 1; l < r; l++, r--) { t = a[l]; a[l] = a[r]; a[r] = t; }
        return true;
    }

    public static void main(String[] args) {
        var all = new StringJoiner(" ");
        permute(List.of("ä", "b", "🦀"), "", all::add);
        System.out.println(all);
        System.out.println(choose("abcde", 3).toList());
        System.out.println(partitions(6, 6).toList());
        var pairs = new ArrayList<String>();
        parentheses(3, 3, "", pairs);
        System.out.println(pairs);
        System.out.println(IntStream.range(0, 8).mapToObj(i -> String.format("%3s", Integer.toBinaryString(i ^ i >> 1)).replace(' ', '0')).toList());
        int[] multiset = {1, 1, 2, 2};
        var words = new ArrayList<String>();
        do words.add(Arrays.stream(multiset).mapToObj(Integer::toString).collect(Collectors.joining())); while (next(multiset));
        System.out.println(words);
        Stream.iterate(List.of(1), row -> IntStream.rangeClosed(0, row.size()).mapToObj(i -> (i > 0 ? row.get(i - 1) : 0) + (i < row.size() ? row.get(i) : 0)).toList()).limit(8)
            .map(row -> row.stream().map(n -> String.format("%4d", n)).collect(Collectors.joining())).forEach(line -> System.out.println(" ".repeat((34 - line.length()) / 2) + line));
        int[] count = {0};
        permute(List.of("a", "b", "c", "d", "e", "f", "g", "h"), "", p -> { if (p.indexOf('a') < p.indexOf('b') && p.indexOf('b') < p.indexOf('c')) count[0]++; });
        System.out.println("orders with a before b before c: " + count[0]);
    }
}
