import java.util.*;
import java.util.regex.*;

/** A language with variables, while and print, read from standard input. */
public class Interpreter {
    private static final Pattern TOKEN = Pattern.compile("\\s*(?:(\\d+)|([\\p{L}_]+)|(\"[^\"]*\")|(==|[-+*/%<(){}=;,]))");
    private final List<String> tokens = new ArrayList<>();
    private final Map<String, Object> names = new LinkedHashMap<>();
    private int at;
    private boolean skipping;

    Interpreter(String source) {
        Matcher m = TOKEN.matcher(source);
        int end = 0;
        for (; m.lookingAt(); m.region(end, source.length())) {
            tokens.add(m.group().strip());
            end = m.end();
        }
        if (!source.substring(end).isBlank()) throw new IllegalArgumentException("what is " + source.substring(end).strip().charAt(0) + "?");
        tokens.add("end");
    }

    private boolean accept(String t) { return tokens.get(at).equals(t) && at++ >= 0; }
    private void expect(String t) { if (!accept(t)) throw new IllegalArgumentException("expected " + t + ", found " + tokens.get(at)); }

    void run() { while (!tokens.get(at).equals("end")) statement(true); }

    private void statement(boolean live) {
        boolean outer = skipping;
        skipping = !live;
        try {
            execute(live);
        } finally {
            skipping = outer;
        }
    }

    private void execute(boolean live) {
        if (accept("{")) {
            while (!accept("}")) statement(live);
        } else if (accept("while")) {
            int start = at;
            while (true) {
                at = start;
                boolean go = truth(expression(), live);
                statement(live && go);
                if (!live || !go) return;
            }
        } else if (accept("if")) {
            boolean yes = truth(expression(), live);
            statement(live && yes);
            if (accept("else")) statement(live && !yes);
        } else if (accept("print")) {
            var line = new StringJoiner(" ");
            do line.add(String.valueOf(expression())); while (accept(","));
            expect(";");
            if (live) System.out.println(line);
        } else {
            String name = tokens.get(at++);
            expect("=");
            Object value = expression();
            expect(";");
            if (live) names.put(name, value);
        }
    }

    private static boolean truth(Object o, boolean live) { return live && !Long.valueOf(0).equals(o); }

    private Object expression() {
        Object left = sum();
        if (accept("<")) return (long) left < (long) sum() ? 1L : 0L;
        return accept("==") ? left.equals(sum()) ? 1L : 0L : left;
    }

    private Object sum() {
        Object left = product();
        while (true) {
            if (accept("+")) {
                Object right = product();
                left = left instanceof Long a && right instanceof Long b ? (Object) Math.addExact(a, b) : "" + left + right;
            } else if (accept("-")) left = (long) left - (long) product();
            else return left;
        }
    }

    private Object product() {
        Object left = atom();
        while (true) {
            if (accept("*")) left = Math.multiplyExact((long) left, (long) atom());
            else if (accept("/")) left = (long) left / (long) atom();
            else if (accept("%")) left = (long) left % (long) atom();
            else return left;
        }
    }

    private Object atom() {
        String t = tokens.get(at++);
        if (t.equals("(")) {
            Object inner = expression();
            expect(")");
            return inner;
        }
        if (skipping) return 1L;
        if (t.startsWith("\"")) return t.substring(1, t.length() - 1);
        if (Character.isDigit(t.charAt(0))) return Long.valueOf(t);
        if (names.containsKey(t)) return names.get(t);
        throw new IllegalArgumentException("unknown " + t);
    }

    public static void main(String[] args) {
        for (String source : new Scanner(System.in, "UTF-8").useDelimiter("\\A").next().split("===\n")) {
            try {
                var interpreter = new Interpreter(source);
                interpreter.run();
                System.out.println(interpreter.names);
            } catch (IllegalArgumentException | ArithmeticException | ClassCastException e) {
                System.out.println("error: " + (e instanceof ClassCastException ? "text is not a number" : e.getMessage()));
            }
        }
    }
}
