package site;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

final class LinkChecker {
    private static final Pattern LINK = Pattern.compile("href=\"([^\"]+)\"");
    private final Path root;

    LinkChecker(Path root) { this.root = root; }

    List<String> broken(Path page) throws IOException {
        return LINK.matcher(Files.readString(page)).results().map(m -> m.group(1)).filter(l -> Files.notExists(root.resolve(l))).toList();
    }
}
