import java.util.*;
import java.util.stream.*;

/** A JSON value type with a parser and a printer that agree. */
public class Json {
    private final String text;
    private int at;

    private Json(String text) { this.text = text; }

    static Object parse(String text) {
        Json json = new Json(text);
        Object value = json.value();
        if (json.peek() != 0) throw json.fail("end expected");
        return value;
    }

    private IllegalArgumentException fail(String what) { return new IllegalArgumentException(what + " at " + at); }

    private char peek() {
        while (at < text.length() && Character.isWhitespace(text.charAt(at))) at++;
        return at < text.length() ? text.charAt(at) : 0;
    }

    private void expect(char c) {
        if (peek() != c) throw fail("'" + c + "' expected");
        at++;
    }

    private Object value() {
        switch (peek()) {
            case '{' -> {
                var map = new LinkedHashMap<String, Object>();
                expect('{');
                for (boolean first = true; peek() != '}'; first = false) {
                    if (!first) expect(',');
                    if (peek() != '"') throw fail("name expected");
                    String key = string();
                    expect(':');
                    map.put(key, value());
                }
                at++;
                return map;
            }
            case '[' -> {
                var list = new ArrayList<>();
                expect('[');
                for (boolean first = true; peek() != ']'; first = false) {
                    if (!first) expect(',');
                    list.add(value());
                }
                at++;
                return list;
            }
            case '"' -> { return string(); }
            default -> { return word(); }
        }
    }

    private Object word() {
        int start = at;
        while (at < text.length() && "+-.eE".indexOf(text.charAt(at)) >= 0 | Character.isLetterOrDigit(text.charAt(at))) at++;
        String word = text.substring(start, at);
        if (word.equals("null")) return null;
        if (word.equals("true") || word.equals("false")) return Boolean.valueOf(word);
        try {
            return word.matches("-?\\d{1,18}") ? (Object) Long.valueOf(word) : Double.valueOf(word);
        } catch (NumberFormatException e) {
            at = start;
            throw fail("value expected");
        }
    }

    private String string() {
        var out = new StringBuilder();
        for (at++; at < text.length(); at++) {
            char c = text.charAt(at);
            if (c == '"') {
                at++;
                return out.toString();
            }
            if (c != '\\') {
                out.append(c);
                continue;
            }
            switch (c = text.charAt(++at)) {
                case 'n' -> out.append('\n');
                case 't' -> out.append('\t');
                case 'u' -> {
                    out.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                    at += 4;
                }
                default -> out.append(c);
            }
        }
        throw fail("unfinished string");
    }

    static String print(Object value) {
        if (value instanceof Map<?, ?> map) return map.entrySet().stream().map(e -> print(e.getKey()) + ":" + print(e.getValue())).collect(Collectors.joining(",", "{", "}"));
        if (value instanceof List<?> list) return list.stream().map(Json::print).collect(Collectors.joining(",", "[", "]"));
        if (value instanceof String s) return '"' + s.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n").replace("\t", "\\t") + '"';
        return String.valueOf(value);
    }

    public static void main(String[] args) {
        String document = "{ \"a\": [1, -2.5e3, true, null, {}], \"ü\": \"\\u00e9\\n\\ud83e\\udd80 🦀 \\\"q\\\"\", \"deep\": [[[]]], \"\": \"\" }";
        Object value = parse(document);
        System.out.println(print(value));
        System.out.println("round trip: " + parse(print(value)).equals(value) + ", " + ((Map<?, ?>) value).get("ü"));
        for (String bad : List.of("{\"a\" 1}", "[1 2]", "\"abc", "{1:2}", "[1] x", "", "[tru]")) {
            try {
                System.out.println(parse(bad));
            } catch (IllegalArgumentException e) {
                System.out.println(bad + " ✗ " + e.getMessage());
            }
        }
    }
}
