package crawler.web;

import java.util.Arrays;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;

public class FakeWeb {
    private static final String SITE = """
        /: Startseite -> /a /b /über-uns
        /a: Äpfel -> /b /c /
        /b: 梨 -> /a /missing
        /c: Crabs 🦀 -> /c/1 /c/2 /
        /c/1: Eins -> /c
        /c/2: Zwei -> /c /verloren /c/1
        /über-uns: Wir -> /
        /island: never linked -> /
        """;
    private final Map<String, Page> pages = SITE.lines().collect(Collectors.toMap(l -> l.substring(0, l.indexOf(':')), l -> new Page(l.substring(l.indexOf(':') + 2, l.indexOf(" ->")), Arrays.asList(l.substring(l.indexOf("-> ") + 3).split(" ")))));
    private final LongAdder fetches = new LongAdder();

    public Page fetch(String url) {
        fetches.increment();
        Page page = pages.get(url);
        if (page == null) throw new NoSuchElementException(url);
        return page;
    }

    public long fetches() { return fetches.sum(); }
}
