import java.util.*;

/** Integers and floats: overflow, shifts, bit tricks, rounding, parsing, exact methods. */
public class Numbers {
    static float fastInverseRoot(float x) {
        float y = Float.intBitsToFloat(0x5f3759df - (Float.floatToIntBits(x) >> 1));
        return y * (1.5f - 0.5f * x * y * y);
    }

    public static void main(String[] args) {
        System.out.println(Integer.MAX_VALUE + 1 + " " + (byte) 200 + " " + (int) 3e10 + " " + (char) 0x4f60 + " " + (int) 'é' + " " + 7 / -2 + " " + 7 % -2 + " " + Math.floorMod(-7, 3) + " " + (long) -2.9);
        System.out.println((-8 >> 1) + " " + (-8 >>> 28) + " " + (1 << 33) + " " + (1L << 33) + " " + Integer.bitCount(255) + " " + Integer.reverse(1) + " " + Long.numberOfTrailingZeros(96) + " " + Integer.highestOneBit(1000) + " " + Integer.rotateLeft(0x80000001, 1));
        System.out.println(0.1 + 0.2 + " " + (0.1f + 0.2f) + " " + 1.0 / 0 + " " + 0.0 / 0 + " " + (0.0 == -0.0) + " " + Double.valueOf(0.0).equals(-0.0) + " " + Math.round(2.5) + " " + Math.round(-2.5) + " " + Math.rint(2.5));
        System.out.println(Integer.parseInt("-7f", 16) + " " + Integer.toString(255, 2) + " " + Integer.parseUnsignedInt("4294967295") + " " + Long.parseLong("+42") + " " + Double.parseDouble("0x1p-2") + " " + Integer.decode("#ff") + " " + Boolean.parseBoolean("TRUE"));
        System.out.printf(Locale.ROOT, "%.4f %.3e %g %a %08.3f %(d%n", Math.PI, 12345.678, 0.00012345, 1.0, -3.14159, -5);
        System.out.printf(Locale.ROOT, "%.5f %.10f %.6f%n", fastInverseRoot(4), Math.hypot(3, 4), StrictMath.cbrt(27));
        Integer a = 127, b = 127;
        System.out.println((a == b) + " " + Objects.equals(1000, 1000) + " " + Integer.compare(3, 5) + " " + Character.getNumericValue('９') + " " + Integer.signum(-9) + " " + 1_000_000 + " " + 0b1010 + " " + 017);
        for (Runnable r : List.<Runnable>of(() -> Math.addExact(Integer.MAX_VALUE, 1), () -> Math.toIntExact(1L << 40), () -> Integer.parseInt("12é"), () -> System.out.println(1 % Integer.parseInt("0")))) {
            try {
                r.run();
            } catch (ArithmeticException | NumberFormatException e) {
                System.out.println(e.getClass().getSimpleName() + ": " + e.getMessage());
            }
        }
        double sum = 0, compensated = 0, carry = 0;
        for (int i = 0; i < 1_000_000; i++) {
            sum += 0.1;
            double y = 0.1 - carry, t = compensated + y;
            carry = t - compensated - y;
            compensated = t;
        }
        System.out.printf(Locale.ROOT, "naive %.9f, compensated %.9f%n", sum, compensated);
        System.out.println(Long.MIN_VALUE + " " + Math.abs(Integer.MIN_VALUE) + " " + Long.toUnsignedString(-1) + " " + Integer.divideUnsigned(-1, 2) + " " + Math.multiplyHigh(1L << 62, 8));
        int gcd = 1071, other = 462;
        while (other != 0) other = gcd % (gcd = other);
        System.out.println("gcd " + gcd + ", FizzBuzz " + java.util.stream.IntStream.rangeClosed(1, 15).mapToObj(i -> i % 15 == 0 ? "FizzBuzz" : i % 5 == 0 ? "Buzz" : i % 3 == 0 ? "Fizz" : "" + i).toList());
    }
}
