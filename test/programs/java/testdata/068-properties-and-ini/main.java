import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;

/** Properties with escapes and defaults, an INI reader, preferences as XML. */
public class Config {
    static Map<String, Map<String, String>> ini(String text) {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        Map<String, String> current = sections.computeIfAbsent("", k -> new LinkedHashMap<>());
        int n = 0;
        for (String raw : text.split("\n")) {
            n++;
            String line = raw.replaceFirst("[;#].*", "").strip();
            if (line.isEmpty()) continue;
            if (line.matches("\\[.+]")) current = sections.computeIfAbsent(line.substring(1, line.length() - 1), k -> new LinkedHashMap<>());
            else if (line.contains("=")) current.put(line.substring(0, line.indexOf('=')).strip(), line.substring(line.indexOf('=') + 1).strip());
            else throw new IllegalArgumentException("line " + n + ": " + line);
        }
        return sections;
    }

    public static void main(String[] args) throws IOException {
        var defaults = new Properties();
        defaults.setProperty("retries", "3");
        var properties = new Properties(defaults);
        properties.load(new StringReader("# comment\nname = gr\\u00f6\\u00dfe \\\n   weiter\npath:C:\\\\tmp\nkey\\ with\\ space=1\nempty=\nutf=你好 🦀"));
        for (String name : new TreeSet<>(properties.stringPropertyNames())) System.out.println(name + " → [" + properties.getProperty(name) + "]");
        System.out.println(properties.getProperty("absent", "fallback") + " " + properties.size());
        Path file = Path.of("settings.properties");
        try (Writer out = Files.newBufferedWriter(file)) {
            properties.store(out, null);
        }
        var again = new Properties();
        try (Reader in = Files.newBufferedReader(file)) {
            again.load(in);
        }
        System.out.println("round trip: " + new TreeMap<>(again).equals(new TreeMap<>(properties)));
        System.out.println(Files.readAllLines(file).stream().filter(l -> !l.startsWith("#")).sorted().toList());
        var xml = new ByteArrayOutputStream();
        again.storeToXML(xml, null, StandardCharsets.UTF_8);
        var third = new Properties();
        third.loadFromXML(new ByteArrayInputStream(xml.toByteArray()));
        System.out.println("through XML: " + third.equals(again));
        System.out.println(ini("top=1\n[a]\nx = y=z ; note\n[b c]\nü = ä\n[a]\nw="));
        try {
            ini("[a]\n\nnonsense");
        } catch (IllegalArgumentException e) {
            System.out.println(e.getMessage());
        }
    }
}
