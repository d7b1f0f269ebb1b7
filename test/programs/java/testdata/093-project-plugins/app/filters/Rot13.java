package app.filters;

import app.spi.Filter;

public class Rot13 implements Filter {
    @Override public String name() { return "rot13"; }
    @Override public String apply(String text) {
        var out = new StringBuilder();
        text.codePoints().map(c -> c >= 'a' && c <= 'z' ? (c - 'a' + 13) % 26 + 'a' : c).forEach(out::appendCodePoint);
        return out.toString();
    }
}
