import java.nio.charset.StandardCharsets;
import java.security.*;
import java.util.*;
import java.util.zip.*;
import javax.crypto.*;
import javax.crypto.spec.*;

/** Known answers of digests, HMAC, key derivation and checksums. */
public class Hashes {
    static String hex(byte[] data) { return HexFormat.of().formatHex(data); }

    static long checksum(Checksum sum, byte[] data) {
        sum.update(data, 0, data.length);
        return sum.getValue();
    }

    public static void main(String[] args) throws GeneralSecurityException {
        byte[] message = "The quick brown fox jumps over the lazy dog".getBytes(StandardCharsets.UTF_8);
        for (String name : List.of("MD5", "SHA-1", "SHA-256", "SHA3-256")) System.out.printf("%-9s %s%n", name, hex(MessageDigest.getInstance(name).digest(message)));
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec("key".getBytes(), "HmacSHA256"));
        System.out.println("hmac      " + hex(mac.doFinal(message)));
        var spec = new PBEKeySpec("password".toCharArray(), "salt".getBytes(), 1000, 128);
        System.out.println("pbkdf2    " + hex(SecretKeyFactory.getInstance("PBKDF2WithHmacSHA256").generateSecret(spec).getEncoded()));
        System.out.printf("crc32 %x adler %x crc32c %x%n", checksum(new CRC32(), message), checksum(new Adler32(), message), checksum(new CRC32C(), message));
        System.out.println("string hash " + "héllo 你好 🦀".hashCode() + " list " + List.of(1, 2, 3).hashCode() + " array " + Arrays.hashCode(new int[] {1, 2, 3}) + " " + Objects.hash("a", 1));
        int nonce = 0;
        MessageDigest sha = MessageDigest.getInstance("SHA-256");
        while (!hex(sha.digest(("block" + nonce).getBytes())).startsWith("000")) nonce++;
        System.out.println("nonce " + nonce);
        try {
            MessageDigest.getInstance("SHA-0");
        } catch (NoSuchAlgorithmException e) {
            System.out.println("no SHA-0");
        }
        System.out.println(MessageDigest.isEqual(message, message.clone()));
    }
}
