import java.util.*;
import java.util.function.*;

/** Bounded types, wildcards, recursive bounds, a result type, a typed container. */
public class Generics {
    sealed interface Result<T> {
        record Ok<T>(T value) implements Result<T> {}
        record Fail<T>(String why) implements Result<T> {}

        static <T> Result<T> of(Supplier<? extends T> action) {
            try {
                return new Ok<>(action.get());
            } catch (RuntimeException e) {
                return new Fail<>(e.getClass().getSimpleName());
            }
        }

        default <R> Result<R> then(Function<? super T, Result<R>> next) {
            return this instanceof Ok<T> ok ? next.apply(ok.value()) : new Fail<>(((Fail<T>) this).why());
        }
    }

    static <T extends Comparable<? super T>> T largest(Collection<? extends T> items) {
        Iterator<? extends T> it = items.iterator();
        T best = it.next();
        while (it.hasNext()) {
            T next = it.next();
            if (next.compareTo(best) > 0) best = next;
        }
        return best;
    }

    static double sum(Collection<? extends Number> numbers) { return numbers.stream().mapToDouble(Number::doubleValue).sum(); }
    static void fill(Collection<? super Integer> target, int n) { for (int i = 0; i < n; i++) target.add(i); }
    @SafeVarargs static <T> List<T> interleave(List<? extends T>... lists) {
        var out = new ArrayList<T>();
        for (int i = 0; ; i++) {
            boolean more = false;
            for (var list : lists) if (i < list.size()) more = out.add(list.get(i));
            if (!more) return out;
        }
    }

    static final class Registry {
        private final Map<Class<?>, Object> values = new LinkedHashMap<>();
        <T> Registry put(Class<T> type, T value) { values.put(type, type.cast(value)); return this; }
        <T> Optional<T> get(Class<T> type) { return Optional.ofNullable(type.cast(values.get(type))); }
    }

    abstract static class Builder<B extends Builder<B>> {
        protected final StringBuilder text = new StringBuilder();
        abstract B self();
        B add(String part) { text.append(part); return self(); }
    }
    static final class Html extends Builder<Html> {
        @Override Html self() { return this; }
        Html bold(String part) { text.append("<b>").append(part).append("</b>"); return this; }
    }

    public static void main(String[] args) {
        System.out.println(largest(List.of(3, 9, 4)) + " " + largest(Set.of("zoo")) + " " + sum(List.of(1, 2.5, 3L)));
        var objects = new ArrayList<Object>(List.of("first"));
        fill(objects, 3);
        System.out.println(objects + " " + interleave(List.of(1, 2, 3), List.of("a"), List.of('x', 'y')));
        var registry = new Registry().put(String.class, "größe").put(Integer.class, 7);
        System.out.println(registry.get(String.class).orElse("?") + registry.get(Integer.class).map(n -> n * 6).get() + registry.get(Double.class));
        System.out.println(new Html().add("1 ").bold("二").add(" drei").text);
        for (String text : List.of("42", "x", "0")) {
            System.out.println(Result.of(() -> Integer.parseInt(text)).then(n -> Result.of(() -> 84 / n)));
        }
        Map<String, Function<Double, Double>> table = new TreeMap<>(Map.of("double", x -> 2 * x, "half", x -> x / 2, "square", x -> x * x));
        System.out.println(table.values().stream().reduce(Function.identity(), Function::andThen).apply(3.0) + " " + table.keySet());
    }
}
