package app.filters;

import app.spi.Filter;
import java.util.stream.Collectors;

public class Reverse implements Filter {
    @Override public String name() { return "reverse"; }
    @Override public String apply(String text) { return text.lines().map(l -> new StringBuilder(l).reverse()).collect(Collectors.joining("\n")); }
}
