package lang.front;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

final class Lexer {
    private static final Pattern TOKEN = Pattern.compile("\\s*(\\d+(?:\\.\\d+)?|[\\p{L}_]+|[-+*/^=(),])");

    private Lexer() {}

    static List<String> tokens(String text) {
        var out = new ArrayList<String>();
        Matcher m = TOKEN.matcher(text);
        int at = 0;
        while (m.find(at) && m.start() == at) {
            out.add(m.group(1));
            at = m.end();
            if (at >= text.length()) break;
        }
        if (!text.substring(at).isBlank()) throw new LangException("unexpected " + text.substring(at).strip().charAt(0) + " at " + (at + 1));
        return out;
    }
}
