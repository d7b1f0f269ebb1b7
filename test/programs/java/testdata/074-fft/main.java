import java.math.BigInteger;
import java.util.*;

/** A fast Fourier transform finds the notes of a chord and multiplies long numbers. */
public class Fourier {
    static void transform(double[] re, double[] im, boolean inverse) {
        int n = re.length;
        for (int i = 1, j = 0; i < n; i++) {
            int bit = n >> 1;
            for (; (j & bit) != 0; bit >>= 1) j ^= bit;
            j ^= bit;
            if (i < j) {
                double t = re[i]; re[i] = re[j]; re[j] = t;
                t = im[i]; im[i] = im[j]; im[j] = t;
            }
        }
        for (int size = 2; size <= n; size *= 2) {
            double angle = (inverse ? 2 : -2) * Math.PI / size;
            for (int k = 0; k < size / 2; k++) {
                double c = Math.cos(angle * k), s = Math.sin(angle * k);
                for (int a = k; a < n; a += size) {
                    int b = a + size / 2;
                    double x = re[b] * c - im[b] * s, y = re[b] * s + im[b] * c;
                    re[b] = re[a] - x; im[b] = im[a] - y;
                    re[a] += x; im[a] += y;
                }
            }
        }
        if (inverse) for (int i = 0; i < n; i++) { re[i] /= n; im[i] /= n; }
    }

    static String multiply(String a, String b) {
        int size = Integer.highestOneBit(a.length() + b.length()) * 2;
        double[] ar = new double[size], ai = new double[size], br = new double[size], bi = new double[size];
        for (int i = 0; i < a.length(); i++) ar[i] = a.charAt(a.length() - 1 - i) - '0';
        for (int i = 0; i < b.length(); i++) br[i] = b.charAt(b.length() - 1 - i) - '0';
        transform(ar, ai, false);
        transform(br, bi, false);
        for (int i = 0; i < size; i++) {
            double re = ar[i] * br[i] - ai[i] * bi[i];
            ai[i] = ar[i] * bi[i] + ai[i] * br[i];
            ar[i] = re;
        }
        transform(ar, ai, true);
        var out = new StringBuilder();
        long carry = 0;
        for (double x : ar) {
            carry += Math.round(x);
            out.append(carry % 10);
            carry /= 10;
        }
        return out.reverse().toString().replaceFirst("^0+(?=\\d)", "");
    }

    public static void main(String[] args) {
        double[] re = new double[1024], im = new double[1024];
        for (int t = 0; t < 1024; t++) re[t] = Math.sin(2 * Math.PI * 50 * t / 1024) + 0.5 * Math.sin(2 * Math.PI * 120 * t / 1024) + 0.25 * Math.cos(2 * Math.PI * 300 * t / 1024);
        transform(re, im, false);
        for (int f = 0; f < 512; f++) {
            double amplitude = Math.hypot(re[f], im[f]) / 512;
            if (amplitude > 0.01) System.out.printf(Locale.ROOT, "%3d Hz %s %.3f%n", f, "▆".repeat((int) Math.round(amplitude * 40)), amplitude);
        }
        String a = "7".repeat(3000) + "123", b = "9".repeat(2500) + "001", product = multiply(a, b);
        System.out.println(product.length() + " digits, " + product.substring(0, 10) + "…" + product.substring(product.length() - 10) + " " + new BigInteger(a).multiply(new BigInteger(b)).toString().equals(product));
    }
}
