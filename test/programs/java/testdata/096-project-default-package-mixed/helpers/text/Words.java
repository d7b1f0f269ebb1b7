package helpers.text;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

public final class Words {
    private Words() {}

    private static String capital(String w) { return w.substring(0, 1).toUpperCase(Locale.ROOT) + w.substring(1).toLowerCase(Locale.ROOT); }

    public static String title(String text) { return Arrays.stream(text.split(" ")).map(Words::capital).collect(Collectors.joining(" ")); }

    public static String acronym(String text) { return Arrays.stream(text.split(" ")).map(w -> capital(w).substring(0, 1)).collect(Collectors.joining()); }

    public static String camel(String text) {
        String joined = Arrays.stream(text.split("_")).map(Words::capital).collect(Collectors.joining());
        return joined.substring(0, 1).toLowerCase(Locale.ROOT) + joined.substring(1);
    }
}
