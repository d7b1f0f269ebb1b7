import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** About 400 KB of lines on standard output, with a checksum at the end. */
public class LargeOutput {
    public static void main(String[] args) throws IOException {
        var out = new PrintStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 8192), false, StandardCharsets.UTF_8);
        var sum = new CRC32();
        long state = 42, bytes = 0;
        String blocks = "▁▂▃▄▅▆▇█";
        for (int i = 0; i < 7000; i++) {
            state = state * 6364136223846793005L + 1442695040888963407L;
            String line = String.format("%05d %016x %s%n", i, state, String.valueOf(blocks.charAt((int) (state >>> 61))).repeat((int) (state >>> 57 & 15) + 1));
            byte[] data = line.getBytes(StandardCharsets.UTF_8);
            sum.update(data);
            bytes += data.length;
            out.write(data);
        }
        out.println("x".repeat(50_000));
        out.printf("%d bytes, crc %08x%n", bytes, sum.getValue());
        out.flush();
    }
}
