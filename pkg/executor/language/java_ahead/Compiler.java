package sandbox_run;

import com.sun.tools.javac.Main;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The compiler, which has compiled once when it waits for what it is for, again and again. */
public final class Compiler {
    /** The most that it says, in characters. */
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
            StringWriter said = new StringWriter();
            int code;
            try {
                code = Main.compile(args, new PrintWriter(said, true));
            } catch (Throwable t) { // such as OutOfMemoryError, after which nothing is sure
                System.err.println(said);
                t.printStackTrace();
                Runtime.getRuntime().halt(4);
                return;
            }
            String text = said.getBuffer().length() > MOST ? said.getBuffer().substring(0, MOST) : said.toString();
            Work.done(text.getBytes(StandardCharsets.UTF_8), code);
            if (code >= ABNORMAL) Runtime.getRuntime().halt(0); // out of memory, or its own fault
            Work.taken();
            empty(own);
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
