import java.util.*;
import java.util.stream.*;

/** Caesar with an attack, Vigenère, transposition, Atbash. */
public class Ciphers {
    static String shift(String text, int n) {
        return text.codePoints().map(c -> c >= 'a' && c <= 'z' ? (c - 'a' + n + 26) % 26 + 'a' : c >= 'A' && c <= 'Z' ? (c - 'A' + n + 26) % 26 + 'A' : c).collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
    }

    static String vigenere(String text, String key, int sign) {
        var out = new StringBuilder();
        int at = 0;
        for (char c : text.toCharArray()) {
            boolean letter = c < 128 && Character.isLetter(c);
            out.append(letter ? shift(String.valueOf(c), sign * (key.charAt(at++ % key.length()) - 'a')) : String.valueOf(c));
        }
        return out.toString();
    }

    static int crack(String text) {
        String common = "etaoinshrdlcumwfgypbvkjxqz";
        return IntStream.range(0, 26).boxed().max(Comparator.comparingInt(n -> shift(text.toLowerCase(), -n).chars().map(c -> common.indexOf(c)).filter(i -> i >= 0).map(i -> 26 - i).sum())).orElseThrow();
    }

    static String columns(String text, String key) {
        int[] order = IntStream.range(0, key.length()).boxed().sorted(Comparator.comparing(key::charAt)).mapToInt(i -> i).toArray();
        return Arrays.stream(order).mapToObj(c -> IntStream.range(0, text.length()).filter(i -> i % key.length() == c).mapToObj(i -> String.valueOf(text.charAt(i))).collect(Collectors.joining())).collect(Collectors.joining(" "));
    }

    public static void main(String[] args) {
        String plain = "It was a bright cold day in April, and the clocks were striking thirteen; Winston's café 🦀.";
        String secret = shift(plain, 19);
        System.out.println(secret + "\n" + crack(secret) + " " + shift(secret, -crack(secret)).equals(plain));
        String hidden = vigenere(plain, "lemon", 1);
        System.out.println(hidden + "\n" + vigenere(hidden, "lemon", -1).equals(plain));
        System.out.println(columns("WEAREDISCOVEREDFLEEATONCE", "ZEBRA"));
        System.out.println("Wizard".chars().map(c -> Character.isUpperCase(c) ? 'A' + 'Z' - c : 'a' + 'z' - c).mapToObj(Character::toString).collect(Collectors.joining()) + " " + shift(shift("Rot", 13), 13));
    }
}
