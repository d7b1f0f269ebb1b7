import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.util.*;
import java.util.stream.*;

/** UUIDs from names and bytes, never from chance. */
public class Uuids {
    static UUID version5(UUID namespace, String name) throws NoSuchAlgorithmException {
        MessageDigest sha = MessageDigest.getInstance("SHA-1");
        sha.update(ByteBuffer.allocate(16).putLong(namespace.getMostSignificantBits()).putLong(namespace.getLeastSignificantBits()).array());
        ByteBuffer hash = ByteBuffer.wrap(sha.digest(name.getBytes(StandardCharsets.UTF_8)));
        return new UUID(hash.getLong() & ~0xf000L | 0x5000L, hash.getLong() & 0x3fffffffffffffffL | 0x8000000000000000L);
    }

    public static void main(String[] args) throws NoSuchAlgorithmException {
        UUID dns = UUID.fromString("6ba7b810-9dad-11d1-80b4-00c04fd430c8");
        for (String name : List.of("python.org", "bücher.example", "héllo 你好 🦀")) {
            UUID v5 = version5(dns, name), v3 = UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8));
            System.out.println(v5 + " " + v5.version() + " " + v3 + " " + v3.version() + " " + name);
        }
        UUID counted = new UUID(0x0001020304050607L, 0x08090a0b0c0d0e0fL);
        System.out.println(counted + " " + counted.equals(UUID.fromString(counted.toString().toUpperCase())) + " " + counted.hashCode());
        System.out.println(Stream.of(new UUID(-1, 0), new UUID(1, 0), new UUID(0, 5)).sorted().map(UUID::toString).collect(Collectors.joining("\n")));
        try {
            UUID.fromString("not a uuid");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
