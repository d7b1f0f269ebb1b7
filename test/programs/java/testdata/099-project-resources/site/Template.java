package site;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

record Template(String source) {
    private static final Pattern FIELD = Pattern.compile("\\{\\{(\\w+)}}");

    String render(Map<String, String> values) {
        return FIELD.matcher(source).replaceAll(m -> {
            String value = values.get(m.group(1));
            if (value == null) throw new IllegalArgumentException("no value for " + m.group(1));
            return Matcher.quoteReplacement(value);
        });
    }
}
