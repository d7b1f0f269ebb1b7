package app.filters;

import app.spi.Filter;
import java.util.Locale;

public final class Shout implements Filter {
    @Override public String name() { return "shout"; }
    @Override public String apply(String text) { return text.toUpperCase(Locale.ROOT); }
}
