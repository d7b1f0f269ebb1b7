package app.spi;

import java.util.function.UnaryOperator;

public interface Filter {
    String name();

    String apply(String text);

    default Filter then(Filter next) { return of(name().isEmpty() ? next.name() : name() + " then " + next.name(), s -> next.apply(apply(s))); }

    static Filter identity() { return of("", s -> s); }

    static Filter of(String name, UnaryOperator<String> action) {
        return new Filter() {
            @Override public String name() { return name; }
            @Override public String apply(String text) { return action.apply(text); }
        };
    }
}
