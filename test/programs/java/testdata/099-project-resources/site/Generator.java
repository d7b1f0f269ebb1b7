package site;

import java.io.IOException;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

/** Writes pages, renders them through a template, and checks the links. */
public class Generator {
    private static final Template PAGE = new Template("""
        <title>{{title}}</title>
        <h1>{{title}}</h1>
        {{body}}
        """);

    public static void main(String[] args) throws IOException {
        Path source = Files.createDirectories(Path.of("quelle")), target = Files.createDirectories(Path.of("öffentlich"));
        Files.writeString(source.resolve("index.md"), "# Willkommen 你好\n\nSee [about](über.html) and *this*.\n\n- eins\n- **zwei**\n");
        Files.writeString(source.resolve("über.md"), "# Über uns 🦀\n\nBack to [index](index.html) or [gone](nicht-da.html) & <more>.\n");
        try (Stream<Path> pages = Files.list(source)) {
            for (Path page : pages.sorted().toList()) {
                List<String> lines = Files.readAllLines(page);
                String html = PAGE.render(Map.of("title", lines.get(0).substring(2), "body", Markdown.render(lines.subList(1, lines.size()))));
                Files.writeString(target.resolve(page.getFileName().toString().replace(".md", ".html")), html);
            }
        }
        var links = new LinkChecker(target);
        try (Stream<Path> pages = Files.list(target)) {
            for (Path page : pages.sorted().toList()) {
                System.out.println("== " + page + "\n" + Files.readString(page).strip());
                System.out.println("broken: " + links.broken(page));
            }
        }
    }
}
