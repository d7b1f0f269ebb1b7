import java.util.*;
import java.util.function.*;
import java.util.stream.*;

/** A small Lisp: closures, recursion, lists, errors that name what is missing. */
public class Lisp {
    static final class Scope {
        private final Map<String, Object> names = new HashMap<>();
        private final Scope outer;
        Scope(Scope outer) { this.outer = outer; }
        Object get(String name) {
            for (Scope s = this; s != null; s = s.outer) if (s.names.containsKey(name)) return s.names.get(name);
            throw new NoSuchElementException("unbound: " + name);
        }
    }

    interface Fun extends Function<List<Object>, Object> {}

    static Object read(Deque<String> tokens) {
        String token = tokens.pop();
        if (token.equals("(")) {
            var list = new ArrayList<>();
            while (!tokens.peek().equals(")")) list.add(read(tokens));
            tokens.pop();
            return list;
        }
        return token.matches("-?\\d+") ? (Object) Long.valueOf(token) : token;
    }

    static Object eval(Object x, Scope scope) {
        if (x instanceof String name) return scope.get(name);
        if (!(x instanceof List<?> list)) return x;
        String head = list.get(0) instanceof String s ? s : "";
        switch (head) {
            case "quote": return list.get(1);
            case "if": return eval(Boolean.TRUE.equals(eval(list.get(1), scope)) ? list.get(2) : list.get(3), scope);
            case "define":
                scope.names.put((String) list.get(1), eval(list.get(2), scope));
                return null;
            case "lambda":
                return (Fun) values -> {
                    var inner = new Scope(scope);
                    List<?> names = (List<?>) list.get(1);
                    for (int i = 0; i < names.size(); i++) inner.names.put((String) names.get(i), values.get(i));
                    return eval(list.get(2), inner);
                };
            default:
                Fun f = (Fun) eval(list.get(0), scope);
                return f.apply(list.stream().skip(1).map(e -> eval(e, scope)).collect(Collectors.toList()));
        }
    }

    static String show(Object x) {
        if (x instanceof List<?> list) return list.stream().map(Lisp::show).collect(Collectors.joining(" ", "(", ")"));
        return x instanceof Fun ? "<function>" : String.valueOf(x);
    }

    static void arithmetic(Scope top, String name, BinaryOperator<Long> op) {
        top.names.put(name, (Fun) v -> v.stream().map(Long.class::cast).reduce(op).orElse(0L));
    }

    public static void main(String[] args) {
        var top = new Scope(null);
        arithmetic(top, "+", Math::addExact);
        arithmetic(top, "*", Math::multiplyExact);
        arithmetic(top, "-", (a, b) -> a - b);
        top.names.put("<", (Fun) v -> (Long) v.get(0) < (Long) v.get(1));
        top.names.put("list", (Fun) v -> v);
        top.names.put("car", (Fun) v -> ((List<?>) v.get(0)).get(0));
        top.names.put("cdr", (Fun) v -> ((List<?>) v.get(0)).stream().skip(1).collect(Collectors.toList()));
        top.names.put("cons", (Fun) v -> Stream.concat(Stream.of(v.get(0)), ((List<?>) v.get(1)).stream()).collect(Collectors.toList()));
        top.names.put("null?", (Fun) v -> ((List<?>) v.get(0)).isEmpty());
        String source = new Scanner(System.in, "UTF-8").useDelimiter("\\A").next().replace("(", " ( ").replace(")", " ) ").strip();
        Deque<String> tokens = new ArrayDeque<>(List.of(source.split("\\s+")));
        while (!tokens.isEmpty()) {
            try {
                Object value = eval(read(tokens), top);
                if (value != null) System.out.println(show(value));
            } catch (NoSuchElementException | ArithmeticException e) {
                System.out.println("error: " + e.getMessage());
            }
        }
    }
}
