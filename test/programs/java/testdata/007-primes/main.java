import java.math.BigInteger;
import java.util.*;
import java.util.stream.*;

/** Sieve with a BitSet, factors, totients, and BigInteger's own test. */
public class Primes {
    static BitSet sieve(int limit) {
        var prime = new BitSet(limit + 1);
        prime.set(2, limit + 1);
        for (int n = 2; n * n <= limit; n = prime.nextSetBit(n + 1)) {
            for (int m = n * n; m <= limit; m += n) prime.clear(m);
        }
        return prime;
    }

    static SortedMap<Long, Integer> factors(long n) {
        var found = new TreeMap<Long, Integer>();
        for (long p = 2; p * p <= n; p++) for (; n % p == 0; n /= p) found.merge(p, 1, Integer::sum);
        if (n > 1) found.merge(n, 1, Integer::sum);
        return found;
    }

    public static void main(String[] args) {
        BitSet primes = sieve(1_000_000);
        System.out.println(primes.cardinality() + " primes, the last " + (primes.length() - 1));
        System.out.println("twins below 1000: " + primes.stream().takeWhile(p -> p < 1000).filter(p -> primes.get(p + 2)).count());
        for (long n : new long[] {360, 9_699_690, 600_851_475_143L, 1L << 40}) {
            var f = factors(n);
            long phi = f.keySet().stream().reduce(n, (x, p) -> x / p * (p - 1));
            System.out.println(n + " = " + f.entrySet().stream().map(e -> e.getKey() + (e.getValue() > 1 ? "^" + e.getValue() : "")).collect(Collectors.joining(" · ")) + ", φ = " + phi);
        }
        var mersenne = IntStream.rangeClosed(2, 130).filter(p -> BigInteger.TWO.pow(p).subtract(BigInteger.ONE).isProbablePrime(50)).boxed().toList();
        System.out.println("Mersenne exponents: " + mersenne);
        System.out.println("after 10^20: " + BigInteger.TEN.pow(20).nextProbablePrime());
    }
}
