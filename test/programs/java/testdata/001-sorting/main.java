import java.util.*;
import java.util.function.*;

/** Four sorting algorithms on the same data, checked against the library. */
public class SortingRace {
    static void insertion(int[] a) {
        for (int i = 1; i < a.length; i++) {
            int x = a[i], j = i - 1;
            for (; j >= 0 && a[j] > x; j--) a[j + 1] = a[j];
            a[j + 1] = x;
        }
    }

    static void quick(int[] a, int low, int high) {
        if (low >= high) return;
        int pivot = a[(low + high) >>> 1], i = low, j = high;
        while (i <= j) {
            while (a[i] < pivot) i++;
            while (a[j] > pivot) j--;
            if (i <= j) {
                int t = a[i];
                a[i++] = a[j];
                a[j--] = t;
            }
        }
        quick(a, low, j);
        quick(a, i, high);
    }

    static void merge(int[] a) {
        if (a.length < 2) return;
        int[] left = Arrays.copyOfRange(a, 0, a.length / 2), right = Arrays.copyOfRange(a, a.length / 2, a.length);
        merge(left);
        merge(right);
        for (int i = 0, l = 0, r = 0; i < a.length; i++) {
            a[i] = r == right.length || l < left.length && left[l] <= right[r] ? left[l++] : right[r++];
        }
    }

    static void radix(int[] a) {
        for (int shift = 0; shift < 32; shift += 8) {
            int[] count = new int[257], out = new int[a.length];
            for (int x : a) count[(x >>> shift & 255) + 1]++;
            for (int i = 0; i < 256; i++) count[i + 1] += count[i];
            for (int x : a) out[count[x >>> shift & 255]++] = x;
            System.arraycopy(out, 0, a, 0, a.length);
        }
    }

    public static void main(String[] args) {
        int[] data = new Random(42).ints(3000, 0, 100_000).toArray();
        int[] expected = data.clone();
        Arrays.sort(expected);
        Map<String, Consumer<int[]>> sorts = new LinkedHashMap<>();
        sorts.put("insertion", SortingRace::insertion);
        sorts.put("quick", a -> quick(a, 0, a.length - 1));
        sorts.put("merge", SortingRace::merge);
        sorts.put("radix", SortingRace::radix);
        sorts.forEach((name, sort) -> {
            int[] copy = data.clone();
            sort.accept(copy);
            System.out.printf("%-10s %b%n", name, Arrays.equals(copy, expected));
        });
        System.out.println(Arrays.toString(Arrays.copyOf(expected, 10)));
    }
}
