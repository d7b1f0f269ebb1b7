import java.nio.charset.*;
import java.text.*;
import java.util.*;
import java.util.stream.*;

/** `héllo 你好 🦀`: code units, code points, names, normal forms, encodings. */
public class UnicodeTour {
    public static void main(String[] args) {
        String text = "héllo 你好 🦀";
        System.out.println(text + " " + text.length() + " units, " + text.codePointCount(0, text.length()) + " code points, " + text.getBytes(StandardCharsets.UTF_8).length + " bytes");
        text.codePoints().forEach(c -> System.out.printf("U+%04X %s %s%n", c, Character.toString(c), Character.getName(c)));
        System.out.println("reversed: " + new StringBuilder(text).reverse() + ", upper: " + text.toUpperCase(Locale.ROOT) + ", ß: " + "ß".toUpperCase(Locale.ROOT));
        String decomposed = Normalizer.normalize(text, Normalizer.Form.NFD);
        System.out.println("NFD " + decomposed.length() + ", plain " + decomposed.replaceAll("\\p{M}", "") + ", NFKC " + Normalizer.normalize("ﬁ①ℌ", Normalizer.Form.NFKC));
        for (Charset charset : List.of(StandardCharsets.UTF_8, StandardCharsets.UTF_16BE, StandardCharsets.ISO_8859_1, StandardCharsets.US_ASCII)) {
            byte[] bytes = text.getBytes(charset);
            System.out.println(charset + " " + bytes.length + " " + HexFormat.of().formatHex(bytes) + " " + new String(bytes, charset).equals(text));
        }
        System.out.println(new String(new byte[] {'h', (byte) 0xff, (byte) 0xc3, (byte) 0xa9}, StandardCharsets.UTF_8));
        try {
            StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(new byte[] {(byte) 0xc3}));
        } catch (CharacterCodingException e) {
            System.out.println("strict decoder refuses");
        }
        int größe = 3, 数 = 4;
        System.out.println(größe * 数 + " " + Character.isLetter('你') + " " + Character.getNumericValue('٣') + " " + Character.UnicodeScript.of("я".codePointAt(0)) + " " + "\u00e9".equals("é") + " " + "\uD83E\uDD80".equals("🦀"));
        System.out.println(Stream.of("z", "ä", "a", "Z").sorted().toList() + " " + Stream.of("z", "ä", "a", "Z").sorted(Collator.getInstance(Locale.GERMAN)).toList());
        System.out.println(Charset.defaultCharset() + " " + "Ünï".chars().mapToObj(c -> String.valueOf((char) c)).collect(Collectors.joining("|")));
    }
}
