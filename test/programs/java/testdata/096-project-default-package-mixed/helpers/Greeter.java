package helpers;

import java.util.Map;

public abstract class Greeter {
    private static final Map<String, Greeter> KNOWN = Map.of("en", new English(), "de", new German());

    public static class UnknownLanguage extends IllegalArgumentException {
        UnknownLanguage(String language) { super("unknown language " + language); }
    }

    public static Greeter in(String language) {
        Greeter greeter = KNOWN.get(language);
        if (greeter == null) throw new UnknownLanguage(language);
        return greeter;
    }

    public final String greet(String name) { return word() + ", " + name + "!"; }

    protected abstract String word();

    private static final class English extends Greeter {
        @Override protected String word() { return "Hello"; }
    }
}

class German extends Greeter {
    @Override protected String word() { return "Grüß dich"; }
}
