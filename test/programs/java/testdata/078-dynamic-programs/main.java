import java.util.*;
import java.util.stream.*;

/** Coins, subsequences, matrix chains, cutting, palindromes, partitions. */
public class DynamicPrograms {
    static long ways(int amount, int... coins) {
        long[] t = new long[amount + 1];
        t[0] = 1;
        for (int c : coins) for (int a = c; a <= amount; a++) t[a] += t[a - c];
        return t[amount];
    }

    static List<Integer> increasing(int[] a) {
        int[] best = new int[a.length], from = new int[a.length];
        int end = 0;
        for (int i = 0; i < a.length; i++) {
            from[i] = -1;
            for (int j = 0; j < i; j++) if (a[j] < a[i] && best[j] + 1 > best[i]) {
                best[i] = best[j] + 1;
                from[i] = j;
            }
            if (best[i] > best[end]) end = i;
        }
        var out = new LinkedList<Integer>();
        for (int i = end; i >= 0; i = from[i]) out.addFirst(a[i]);
        return out;
    }

    static String chain(int[] sizes, int i, int j, Map<String, Object[]> memory) { return (String) solve(sizes, i, j, memory)[1] + " " + solve(sizes, i, j, memory)[0]; }

    private static Object[] solve(int[] s, int i, int j, Map<String, Object[]> memory) {
        if (j - i == 1) return new Object[] {0, "M" + i};
        String key = i + "," + j;
        if (!memory.containsKey(key)) {
            Object[] best = {Integer.MAX_VALUE, ""};
            for (int k = i + 1; k < j; k++) {
                Object[] l = solve(s, i, k, memory), r = solve(s, k, j, memory);
                int cost = (int) l[0] + (int) r[0] + s[i] * s[k] * s[j];
                if (cost < (int) best[0]) best = new Object[] {cost, "(" + l[1] + r[1] + ")"};
            }
            memory.put(key, best);
        }
        return memory.get(key);
    }

    static String common(String a, String b) {
        String[][] t = new String[a.length() + 1][b.length() + 1];
        for (String[] row : t) Arrays.fill(row, "");
        for (int i = 1; i <= a.length(); i++) for (int j = 1; j <= b.length(); j++) {
            t[i][j] = a.charAt(i - 1) == b.charAt(j - 1) ? t[i - 1][j - 1] + a.charAt(i - 1) : t[i - 1][j].length() >= t[i][j - 1].length() ? t[i - 1][j] : t[i][j - 1];
        }
        return t[a.length()][b.length()];
    }

    public static void main(String[] args) {
        System.out.println("ways: " + ways(100, 1, 2, 5, 10, 20, 50) + " " + ways(1000, 1, 2, 5, 10, 20, 50, 100, 200));
        System.out.println("increasing: " + increasing(new int[] {0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15}));
        System.out.println("chain: " + chain(new int[] {30, 35, 15, 5, 10, 20, 25}, 0, 6, new HashMap<>()));
        System.out.println("common: " + common("AGGTABÄ", "GXTXAYBÄ") + " " + common("你好世界", "世界你好吗"));
        int[] prices = {1, 5, 8, 9, 10, 17, 17, 20}, best = new int[9];
        for (int n = 1; n <= 8; n++) for (int k = 1; k <= n; k++) best[n] = Math.max(best[n], prices[k - 1] + best[n - k]);
        System.out.println("rod: " + best[8]);
        var reachable = new BitSet();
        reachable.set(0);
        int[] weights = {31, 10, 15, 9, 4, 27, 50};
        for (int w : weights) for (int s = reachable.length() - 1; s >= 0; s--) if (reachable.get(s)) reachable.set(s + w);
        System.out.println("fair half: " + reachable.previousSetBit(IntStream.of(weights).sum() / 2) + " of " + IntStream.of(weights).sum());
        int run = 0, most = Integer.MIN_VALUE;
        for (int x : new int[] {-2, 1, -3, 4, -1, 2, 1, -5, 4}) most = Math.max(most, run = Math.max(x, run + x));
        System.out.println("largest sum: " + most);
    }
}
