package site;

import java.util.List;
import java.util.stream.Collectors;

final class Markdown {
    private Markdown() {}

    private static String inline(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replaceAll("\\[([^]]+)]\\(([^)]+)\\)", "<a href=\"$2\">$1</a>")
            .replaceAll("\\*\\*(.+?)\\*\\*", "<b>$1</b>").replaceAll("\\*(.+?)\\*", "<i>$1</i>");
    }

    static String render(List<String> lines) {
        return lines.stream().filter(l -> !l.isBlank()).map(l -> l.startsWith("- ") ? "<li>" + inline(l.substring(2)) + "</li>" : "<p>" + inline(l) + "</p>").collect(Collectors.joining("\n"));
    }
}
