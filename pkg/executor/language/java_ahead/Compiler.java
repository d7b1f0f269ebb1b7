package sandbox_run;

import com.sun.tools.javac.Main;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The compiler, which has compiled once when it waits for what it is for, again and again. */
public final class Compiler {
    /** The most that is kept of what it says, in characters. */
    private static final int MOST = 1 << 20;

    /** The least exit code that is the compiler's own trouble (com.sun.tools.javac.main.Main.Result). */
    private static final int ABNORMAL = 3;

    private Compiler() {}

    /** Takes a source that is compiled for practice, and the directories that are its own. */
    public static void main(String[] given) throws Exception {
        String practice = given[0], made = given[1];
        Path[] own = new Path[given.length - 1];
        for (int i = 0; i < own.length; i++) own[i] = Path.of(given[i + 1]);
        Main.compile(new String[] {"-proc:none", "-d", made, practice}, new PrintWriter(Writer.nullWriter()));
        empty(own);
        for (;;) {
            String[] args = Work.await();
            Said said = new Said();
            int code;
            try {
                code = Main.compile(args, new PrintWriter(said, true));
            } catch (Throwable t) { // such as OutOfMemoryError, after which nothing is sure
                said.spill();
                t.printStackTrace();
                Runtime.getRuntime().halt(4);
                return;
            }
            if (said.spilled) {
                said.spill();
                Runtime.getRuntime().halt(code);
            }
            Work.done(said.kept.toString().getBytes(StandardCharsets.UTF_8), code);
            if (code >= ABNORMAL) Runtime.getRuntime().halt(0); // out of memory, or its own fault
            Work.taken();
            empty(own);
        }
    }

    /**
     * What the compiler says. More than is kept goes where any program's words go, which has a limit, and the
     * compiler ends with its work then, as only who ends has said all.
     */
    private static final class Said extends Writer {
        final StringBuilder kept = new StringBuilder();
        boolean spilled;
        private final Writer out = new OutputStreamWriter(new FileOutputStream(FileDescriptor.err), StandardCharsets.UTF_8);

        @Override
        public void write(char[] from, int at, int size) throws IOException {
            kept.append(from, at, size);
            if (kept.length() > MOST || spilled) {
                spilled = true;
                out.append(kept);
                kept.setLength(0);
            }
        }

        @Override
        public void flush() {} // the compiler does so for each line

        @Override
        public void close() {}

        /** Writes what is left. */
        void spill() throws IOException {
            out.append(kept).flush();
        }
    }

    private static void empty(Path[] directories) throws IOException {
        for (Path directory : directories) {
            try (Stream<Path> files = Files.walk(directory)) {
                for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                    if (!file.equals(directory)) Files.delete(file);
                }
            }
        }
    }
}
