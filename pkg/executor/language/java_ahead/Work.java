package sandbox_run;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Says that this machine waits, and reads its work: not one byte further. */
final class Work {
    private Work() {}

    /** Returns the arguments that it is told. */
    @SuppressWarnings("resource") // the streams are the program's
    static String[] await() throws IOException {
        new FileOutputStream(FileDescriptor.out).write(6);
        FileInputStream in = new FileInputStream(FileDescriptor.in);
        int size = Integer.parseInt(new String(read(in, 8), StandardCharsets.US_ASCII), 16);
        byte[] words = read(in, size);
        List<String> args = new ArrayList<>();
        for (int from = 0, at = 0; at < size; at++) {
            if (words[at] != 0) continue;
            if (words[from] == 'a') args.add(new String(words, from + 1, at - from - 1, StandardCharsets.UTF_8));
            from = at + 1;
        }
        return args.toArray(new String[0]);
    }

    /** Says how the work has ended. */
    @SuppressWarnings("resource")
    static void done(byte[] said, int code) throws IOException {
        FileOutputStream out = new FileOutputStream(FileDescriptor.out);
        out.write(String.format("%08x", said.length).getBytes(StandardCharsets.US_ASCII));
        out.write(said);
        out.write(String.format("%04x", code).getBytes(StandardCharsets.US_ASCII));
    }

    /** Returns when what the work has made was taken. */
    @SuppressWarnings("resource")
    static void taken() throws IOException {
        read(new FileInputStream(FileDescriptor.in), 1);
    }

    private static byte[] read(FileInputStream in, int size) throws IOException {
        byte[] bytes = new byte[size];
        for (int at = 0, got; at < size; at += got) {
            got = in.read(bytes, at, size - at);
            if (got < 0) Runtime.getRuntime().halt(0); // there is no work
        }
        return bytes;
    }
}
