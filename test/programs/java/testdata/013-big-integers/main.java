import java.math.*;
import java.util.stream.*;

/** Exact integers: factorials, Fibonacci, powers, roots, π. */
public class BigNumbers {
    static BigInteger fibonacci(int n) {
        BigInteger a = BigInteger.ZERO, b = BigInteger.ONE;
        for (int bit = Integer.highestOneBit(n); bit > 0; bit >>= 1) {
            BigInteger c = a.multiply(b.shiftLeft(1).subtract(a)), d = a.multiply(a).add(b.multiply(b));
            a = (n & bit) == 0 ? c : d;
            b = (n & bit) == 0 ? d : c.add(d);
        }
        return a;
    }

    /** Machin's formula with scaled integers. */
    static BigInteger arctan(int inverse, BigInteger unit) {
        BigInteger sum = BigInteger.ZERO, term = unit.divide(BigInteger.valueOf(inverse)), square = BigInteger.valueOf((long) inverse * inverse);
        for (int k = 1; term.signum() != 0; k += 2, term = term.divide(square)) {
            BigInteger part = term.divide(BigInteger.valueOf(k));
            sum = k % 4 == 1 ? sum.add(part) : sum.subtract(part);
        }
        return sum;
    }

    public static void main(String[] args) {
        BigInteger factorial = IntStream.rangeClosed(2, 60).mapToObj(BigInteger::valueOf).reduce(BigInteger.ONE, BigInteger::multiply);
        System.out.println("60! = " + factorial);
        System.out.println("trailing zeros: " + (factorial.toString().length() - factorial.toString().replaceAll("0+$", "").length()));
        System.out.println("F(250) = " + fibonacci(250) + ", digits of F(50000): " + fibonacci(50_000).toString().length());
        System.out.println("3^1000 mod 10^12: " + BigInteger.valueOf(3).modPow(BigInteger.valueOf(1000), BigInteger.TEN.pow(12)));
        System.out.println("√(2·10^60): " + BigInteger.TWO.multiply(BigInteger.TEN.pow(60)).sqrt());
        System.out.println("bits of 2^521-1: " + BigInteger.ONE.shiftLeft(521).subtract(BigInteger.ONE).bitCount() + ", gcd " + factorial.gcd(BigInteger.valueOf(1_000_003L * 59)));
        BigInteger unit = BigInteger.TEN.pow(80);
        BigInteger pi = arctan(5, unit).shiftLeft(2).subtract(arctan(239, unit)).shiftLeft(2);
        System.out.println("π = " + pi.toString().substring(0, 71));
        System.out.println(new BigInteger("cafebabe", 16) + " " + BigInteger.valueOf(-255).toString(2) + " " + BigInteger.valueOf(-7).mod(BigInteger.valueOf(3)));
    }
}
