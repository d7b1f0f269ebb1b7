package sandbox_run;

import com.sun.tools.javac.Main;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** The compiler, which has compiled once when it waits for what it is for. */
public final class Compiler {
    private Compiler() {}

    /** Takes a source that is compiled for practice, and where to. */
    public static void main(String[] practice) throws Exception {
        Path made = Path.of(practice[1]);
        Main.compile(new String[] {"-proc:none", "-d", practice[1], practice[0]}, new PrintWriter(Writer.nullWriter()));
        try (Stream<Path> files = Files.walk(made)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) Files.delete(file);
        }
        System.exit(Main.compile(Work.await()));
    }
}
