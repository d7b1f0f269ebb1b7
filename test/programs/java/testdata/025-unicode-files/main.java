import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

/** Files with names beyond ASCII: written, walked, renamed, copied, deleted. */
public class UnicodeFiles {
    public static void main(String[] args) throws IOException {
        Path root = Path.of("ordner ü");
        for (String name : List.of("héllo 你好 🦀.txt", "tief/вниз/α.md", "tief/空", "plain.txt")) {
            Path file = root.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, (file.getFileName() + "\n").repeat(2));
        }
        try (Stream<Path> walk = Files.walk(root)) {
            for (Path p : walk.filter(Files::isRegularFile).sorted().toList()) System.out.printf("%3d %s%n", Files.size(p), root.relativize(p));
        }
        Path crab = Files.move(root.resolve("héllo 你好 🦀.txt"), root.resolve("Krebs🦀"));
        System.out.println(Files.readAllLines(crab) + " " + Files.exists(root.resolve("héllo 你好 🦀.txt")));
        Files.writeString(crab, "angehängt ✓", StandardOpenOption.APPEND);
        Files.copy(crab, root.resolve("kopie"), StandardCopyOption.REPLACE_EXISTING);
        Files.createSymbolicLink(root.resolve("link"), Path.of("kopie"));
        System.out.println(Files.readSymbolicLink(root.resolve("link")) + " " + Files.mismatch(crab, root.resolve("link")) + " " + Files.readString(root.resolve("link")).lines().reduce((a, b) -> b).orElse(""));
        for (String bad : List.of("没有", "ordner ü/plain.txt/x")) {
            try {
                Files.readString(Path.of(bad));
            } catch (IOException e) {
                System.out.println(e.getClass().getSimpleName() + " " + bad);
            }
        }
        try (DirectoryStream<Path> found = Files.newDirectoryStream(root, "*{🦀,.txt}")) {
            var names = new TreeSet<String>();
            found.forEach(p -> names.add(p.getFileName().toString()));
            System.out.println(names);
        }
        try (Stream<Path> walk = Files.walk(root)) {
            for (Path p : walk.sorted(Comparator.reverseOrder()).toList()) Files.delete(p);
        }
        System.out.println(Files.exists(root));
    }
}
