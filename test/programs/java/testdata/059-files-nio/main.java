import java.io.*;
import java.nio.*;
import java.nio.channels.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.util.*;
import java.util.stream.*;

/** Channels, buffers, random access, attributes, visitors, temporary files. */
public class FilesNio {
    public static void main(String[] args) throws IOException {
        Path file = Path.of("data.bin");
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.READ)) {
            ByteBuffer buffer = ByteBuffer.allocate(64).order(ByteOrder.LITTLE_ENDIAN);
            buffer.putInt(0xCAFEBABE).putDouble(Math.E).put("é🦀".getBytes(StandardCharsets.UTF_8)).flip();
            System.out.println("written " + channel.write(buffer) + ", position " + channel.position());
            MappedByteBuffer map = channel.map(FileChannel.MapMode.READ_WRITE, 0, 4);
            map.put(0, (byte) 1);
            map.force();
        }
        try (var random = new RandomAccessFile(file.toFile(), "rw")) {
            System.out.printf("%02x %d%n", random.read(), random.length());
            random.seek(12);
            byte[] rest = new byte[6];
            random.readFully(rest);
            System.out.println(new String(rest, StandardCharsets.UTF_8));
            random.setLength(5);
        }
        System.out.println(Files.size(file) + " " + HexFormat.of().formatHex(Files.readAllBytes(file)));
        try (var out = new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(file)))) {
            out.writeUTF("größe");
            out.writeLong(-2);
            out.writeBoolean(true);
        }
        try (var in = new DataInputStream(Files.newInputStream(file))) {
            System.out.println(in.readUTF() + " " + in.readLong() + " " + in.readBoolean() + " " + in.available());
            in.readByte();
        } catch (EOFException e) {
            System.out.println("end of file");
        }
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        Files.setLastModifiedTime(file, FileTime.fromMillis(1_700_000_000_000L));
        System.out.println(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)) + " " + Files.getLastModifiedTime(file) + " " + Files.isRegularFile(file));
        Path tree = Files.createDirectories(Path.of("tree/a/b")).getParent().getParent();
        for (String name : List.of("x.txt", "a/y.txt", "a/b/z.log")) Files.writeString(tree.resolve(name), name.repeat(3));
        var seen = new TreeSet<String>();
        Files.walkFileTree(tree, new SimpleFileVisitor<>() {
            @Override public FileVisitResult visitFile(Path p, BasicFileAttributes a) throws IOException {
                seen.add(tree.relativize(p) + ":" + a.size());
                Files.delete(p);
                return FileVisitResult.CONTINUE;
            }
            @Override public FileVisitResult postVisitDirectory(Path p, IOException e) throws IOException {
                Files.delete(p);
                return FileVisitResult.CONTINUE;
            }
        });
        System.out.println(seen + " " + Files.exists(tree));
        Path temporary = Files.createTempFile("prefix-", ".tmp");
        System.out.println(temporary.getFileName().toString().matches("prefix-\\d+\\.tmp") + " " + Files.deleteIfExists(temporary) + " " + Files.deleteIfExists(temporary));
        System.out.println(Path.of("/a/./b/../c").normalize() + " " + Path.of("/a/b").relativize(Path.of("/a/c/d")) + " " + Path.of("x.tar.gz").getFileName() + " " + Path.of("a", "b").getNameCount());
        var serialized = new ByteArrayOutputStream();
        try (var out = new ObjectOutputStream(serialized)) {
            out.writeObject(new TreeMap<>(Map.of("键", List.of(1, 2))));
        }
        try (var in = new ObjectInputStream(new ByteArrayInputStream(serialized.toByteArray()))) {
            System.out.println(in.readObject());
        } catch (ClassNotFoundException e) {
            throw new IOException(e);
        }
    }
}
