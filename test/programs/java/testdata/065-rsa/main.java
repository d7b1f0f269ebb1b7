import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Textbook RSA, Diffie-Hellman and secret sharing over BigInteger with fixed numbers. */
public class Rsa {
    record Share(BigInteger x, BigInteger y) {}

    static List<Share> split(BigInteger secret, int needed, int count, BigInteger prime, Random random) {
        var c = new ArrayList<>(List.of(secret));
        while (c.size() < needed) c.add(new BigInteger(60, random));
        var shares = new ArrayList<Share>();
        for (int x = 1; x <= count; x++) {
            BigInteger bx = BigInteger.valueOf(x), y = BigInteger.ZERO;
            for (int k = c.size() - 1; k >= 0; k--) y = y.multiply(bx).add(c.get(k)).mod(prime);
            shares.add(new Share(bx, y));
        }
        return shares;
    }

    static BigInteger join(List<Share> shares, BigInteger prime) {
        BigInteger sum = BigInteger.ZERO;
        for (Share a : shares) {
            BigInteger part = a.y();
            for (Share b : shares) if (a != b) part = part.multiply(b.x()).multiply(b.x().subtract(a.x()).modInverse(prime)).mod(prime);
            sum = sum.add(part);
        }
        return sum.mod(prime);
    }

    public static void main(String[] args) {
        BigInteger p = BigInteger.TEN.pow(40).nextProbablePrime(), q = BigInteger.TEN.pow(42).nextProbablePrime(), one = BigInteger.ONE;
        BigInteger n = p.multiply(q), e = BigInteger.valueOf(65537), d = e.modInverse(p.subtract(one).multiply(q.subtract(one)));
        System.out.println(p + "\n" + q);
        BigInteger message = new BigInteger(1, "héllo 你好 🦀".getBytes(StandardCharsets.UTF_8)), cipher = message.modPow(e, n);
        System.out.println("cipher " + cipher.toString(36) + "\nplain " + new String(cipher.modPow(d, n).toByteArray(), StandardCharsets.UTF_8).strip());
        BigInteger signature = BigInteger.valueOf(12345).modPow(d, n);
        System.out.println("signature " + signature.modPow(e, n) + ", forged " + signature.add(one).modPow(e, n).equals(BigInteger.valueOf(12345)));
        BigInteger prime = BigInteger.TWO.pow(521).subtract(one), g = BigInteger.valueOf(3), a = BigInteger.valueOf(0xA11CE).pow(15), b = BigInteger.valueOf(0xB0B).pow(20);
        System.out.println("shared " + g.modPow(a, prime).modPow(b, prime).equals(g.modPow(b, prime).modPow(a, prime)));
        BigInteger field = BigInteger.TWO.pow(61).subtract(one);
        var shares = split(BigInteger.valueOf(31415926535L), 3, 5, field, new Random(5));
        System.out.println(join(shares.subList(0, 3), field) + " " + join(List.of(shares.get(4), shares.get(1), shares.get(3)), field) + " " + join(shares.subList(0, 2), field).equals(BigInteger.valueOf(31415926535L)));
    }
}
