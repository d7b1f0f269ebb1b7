import java.math.BigInteger;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** Base64 in its forms, hex, percent encoding, URIs, base 36 and base 58. */
public class Encodings {
    private static final String ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

    static String base58(byte[] data) {
        var out = new StringBuilder();
        for (BigInteger n = new BigInteger(1, data), base = BigInteger.valueOf(58); n.signum() > 0; n = n.divide(base)) out.append(ALPHABET.charAt(n.mod(base).intValue()));
        return out.reverse().toString();
    }

    public static void main(String[] args) throws URISyntaxException {
        String text = "héllo 你好 🦀";
        byte[] data = text.getBytes(StandardCharsets.UTF_8);
        System.out.println(Base64.getEncoder().encodeToString(data) + " " + Base64.getUrlEncoder().withoutPadding().encodeToString(new byte[] {-1, -2, -3, -4}) + " " + Base64.getMimeEncoder(8, new byte[] {'|'}).encodeToString(data));
        System.out.println(new String(Base64.getDecoder().decode("aMOpbGxv"), StandardCharsets.UTF_8));
        try {
            Base64.getDecoder().decode("a*b=");
        } catch (IllegalArgumentException e) {
            System.out.println("not base64");
        }
        System.out.println(HexFormat.ofDelimiter(":").withUpperCase().formatHex(data) + " " + Arrays.toString(HexFormat.of().parseHex("cafe")));
        String encoded = URLEncoder.encode(text + "&=+", StandardCharsets.UTF_8);
        System.out.println(encoded + " " + URLDecoder.decode(encoded, StandardCharsets.UTF_8));
        URI uri = new URI("https", "user", "example.org", 8443, "/päth/a b", "q=ü", "top");
        System.out.println(uri.toASCIIString() + " " + uri.getHost() + " " + uri.getPort() + " " + uri.getPath() + " " + URI.create("http://h/a/b/c").resolve("../x?y"));
        System.out.println(IDN.toASCII("bücher.example") + " " + IDN.toUnicode("xn--bcher-kva.example"));
        System.out.println(base58(data) + " " + Long.toString(123456789, 36) + " " + Integer.toBinaryString(-8 >>> 28) + " " + Integer.toUnsignedString(-1) + " " + Integer.parseInt("-zz", 36) + " " + Long.toHexString(-1L));
    }
}
