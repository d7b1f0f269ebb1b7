package app.filters;

import app.spi.Filter;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

public class Number implements Filter {
    @Override public String name() { return "number"; }
    @Override public String apply(String text) {
        var n = new AtomicInteger();
        return text.lines().map(l -> n.incrementAndGet() + ": " + l).collect(Collectors.joining("\n"));
    }
}
