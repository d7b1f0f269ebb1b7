import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.zip.*;

/** GZIP, deflate and zip archives, there and back. */
public class Compression {
    static byte[] gzip(byte[] data) throws IOException {
        var out = new ByteArrayOutputStream();
        try (var zip = new GZIPOutputStream(out)) {
            zip.write(data);
        }
        return out.toByteArray();
    }

    static byte[] gunzip(byte[] data) throws IOException {
        try (var in = new GZIPInputStream(new ByteArrayInputStream(data))) {
            return in.readAllBytes();
        }
    }

    public static void main(String[] args) throws Exception {
        byte[] verse = "Freude, schöner Götterfunken, Tochter aus Elysium\n".repeat(500).getBytes(StandardCharsets.UTF_8);
        byte[] noise = new byte[5000];
        new Random(3).nextBytes(noise);
        for (byte[] data : List.of(verse, noise, new byte[0])) {
            byte[] packed = gzip(data);
            System.out.println(data.length + (packed.length < data.length / 20 ? " small " : " not small ") + Arrays.equals(gunzip(packed), data));
        }
        var deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        deflater.setInput(verse);
        deflater.finish();
        byte[] buffer = new byte[verse.length];
        int length = deflater.deflate(buffer);
        var inflater = new Inflater(true);
        inflater.setInput(buffer, 0, length);
        byte[] back = new byte[verse.length];
        System.out.println(inflater.inflate(back) + " " + Arrays.equals(back, verse) + " " + inflater.finished());
        Path archive = Path.of("archive.zip");
        try (var zip = new ZipOutputStream(Files.newOutputStream(archive), StandardCharsets.UTF_8)) {
            for (String name : List.of("größe.txt", "ordner/你好🦀.txt")) {
                zip.putNextEntry(new ZipEntry(name));
                zip.write(name.getBytes(StandardCharsets.UTF_8));
                zip.closeEntry();
            }
        }
        try (var zip = new ZipFile(archive.toFile(), StandardCharsets.UTF_8)) {
            for (ZipEntry entry : Collections.list(zip.entries())) {
                System.out.printf("%s %d %x %s%n", entry.getName(), entry.getSize(), entry.getCrc(), new String(zip.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8));
            }
        }
        try {
            gunzip("no gzip".getBytes());
        } catch (ZipException e) {
            System.out.println(e.getMessage());
        }
    }
}
