import java.util.*;
import java.util.stream.*;

/** KMP, Rabin-Karp, Boyer-Moore-Horspool, suffix array and palindromes, compared. */
public class StringSearch {
    static List<Integer> naive(String t, String p) { return IntStream.rangeClosed(0, t.length() - p.length()).filter(i -> t.startsWith(p, i)).boxed().toList(); }

    static List<Integer> kmp(String t, String p) {
        int[] fail = new int[p.length() + 1];
        fail[0] = -1;
        for (int i = 0, k = -1; i < p.length(); fail[++i] = ++k) while (k >= 0 && p.charAt(k) != p.charAt(i)) k = fail[k];
        var found = new ArrayList<Integer>();
        for (int i = 0, k = 0; i < t.length(); i++) {
            while (k >= 0 && (k == p.length() || p.charAt(k) != t.charAt(i))) k = fail[k];
            if (++k == p.length()) found.add(i - k + 1);
        }
        return found;
    }

    static List<Integer> rabinKarp(String t, String p) {
        int m = p.length(), top = 1, wanted = 0, hash = 0;
        var found = new ArrayList<Integer>();
        for (int i = 1; i < m; i++) top *= 31;
        for (char c : p.toCharArray()) wanted = wanted * 31 + c;
        for (int i = 0; i < t.length(); i++) {
            if (i >= m) hash -= t.charAt(i - m) * top;
            hash = hash * 31 + t.charAt(i);
            if (i >= m - 1 && hash == wanted && t.startsWith(p, i - m + 1)) found.add(i - m + 1);
        }
        return found;
    }

    static List<Integer> horspool(String t, String p) {
        Map<Character, Integer> shift = new HashMap<>();
        for (int i = 0; i < p.length() - 1; i++) shift.put(p.charAt(i), p.length() - 1 - i);
        var found = new ArrayList<Integer>();
        for (int i = 0; i + p.length() <= t.length(); i += shift.getOrDefault(t.charAt(i + p.length() - 1), p.length())) if (t.startsWith(p, i)) found.add(i);
        return found;
    }

    static String longestRepeat(String t) {
        var order = IntStream.range(0, t.length()).boxed().sorted(Comparator.comparing(t::substring)).toList();
        String best = "";
        for (int i = 1; i < order.size(); i++) {
            String a = t.substring(order.get(i - 1)), b = t.substring(order.get(i));
            int n = 0;
            while (n < Math.min(a.length(), b.length()) && a.charAt(n) == b.charAt(n)) n++;
            if (n > best.length()) best = a.substring(0, n);
        }
        return best;
    }

    static String palindrome(String t) {
        String best = "";
        for (int centre = 0; centre < 2 * t.length(); centre++) {
            int l = centre / 2, r = l + centre % 2 - 1;
            while (l > 0 && r < t.length() - 1 && t.charAt(l - 1) == t.charAt(r + 1)) {
                l--;
                r++;
            }
            if (r - l + 1 > best.length()) best = t.substring(l, r + 1);
        }
        return best;
    }

    public static void main(String[] args) {
        String text = "abracadabra, 你好你好你, abracabracadabra";
        for (String p : List.of("abra", "你好你", "a", "cad", "zz")) {
            var results = List.of(naive(text, p), kmp(text, p), rabinKarp(text, p), horspool(text, p));
            System.out.println(p + " " + results.get(0) + " " + (results.stream().distinct().count() == 1));
        }
        System.out.println(longestRepeat(text) + " | " + longestRepeat("mississippi") + " | " + palindrome("forgeeksskeegfor") + " | " + palindrome("上海自来水来自海上") + " | " + palindrome("ab"));
    }
}
