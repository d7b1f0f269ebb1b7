import java.util.*;
import java.util.stream.*;

/** A matcher by derivatives of regular expressions, checked against the library. */
public class Derivatives {
    sealed interface Re permits Never, Empty, Char, Or, Then, Star {}
    record Never() implements Re {}
    record Empty() implements Re {}
    record Char(int c) implements Re {}
    record Or(Re a, Re b) implements Re {}
    record Then(Re a, Re b) implements Re {}
    record Star(Re a) implements Re {}

    static Re or(Re a, Re b) { return a instanceof Never || a.equals(b) ? b : b instanceof Never ? a : new Or(a, b); }
    static Re then(Re a, Re b) { return a instanceof Never || b instanceof Never ? new Never() : a instanceof Empty ? b : new Then(a, b); }

    static boolean nullable(Re r) {
        if (r instanceof Or o) return nullable(o.a()) || nullable(o.b());
        if (r instanceof Then t) return nullable(t.a()) && nullable(t.b());
        return r instanceof Empty || r instanceof Star;
    }

    static Re derive(Re r, int c) {
        if (r instanceof Char x) return x.c() == c || x.c() == '.' ? new Empty() : new Never();
        if (r instanceof Or o) return or(derive(o.a(), c), derive(o.b(), c));
        if (r instanceof Star s) return then(derive(s.a(), c), s);
        if (r instanceof Then t) {
            Re first = then(derive(t.a(), c), t.b());
            return nullable(t.a()) ? or(first, derive(t.b(), c)) : first;
        }
        return new Never();
    }

    static boolean matches(Re r, String text) {
        for (int c : text.codePoints().toArray()) r = derive(r, c);
        return nullable(r);
    }

    static Re parse(Deque<Integer> p) {
        Re all = new Never(), sequence = new Empty();
        while (!p.isEmpty() && p.peek() != ')') {
            int c = p.pop();
            if (c == '|') {
                all = new Or(all, sequence);
                sequence = new Empty();
                continue;
            }
            Re atom = new Char(c);
            if (c == '(') {
                atom = parse(p);
                p.pop();
            }
            while (!p.isEmpty() && (p.peek() == '*' || p.peek() == '+' || p.peek() == '?')) {
                int q = p.pop();
                atom = q == '*' ? new Star(atom) : q == '+' ? new Then(atom, new Star(atom)) : new Or(new Empty(), atom);
            }
            sequence = then(sequence, atom);
        }
        return or(all, sequence);
    }

    public static void main(String[] args) {
        var texts = Stream.iterate(List.of(""), l -> l.stream().flatMap(s -> Stream.of("a", "b", "🦀").map(c -> s + c)).toList()).limit(5).flatMap(List::stream).toList();
        for (String pattern : List.of("a(b|🦀)*a?", "(ab)+🦀?|.", "a?a?aa", "(a*b)*", "a|b|", "..+🦀")) {
            Re re = parse(pattern.codePoints().boxed().collect(Collectors.toCollection(ArrayDeque::new)));
            var mine = texts.stream().filter(t -> matches(re, t)).toList();
            System.out.println(pattern + " matches " + mine.size() + " of " + texts.size() + ", as the library: " + mine.equals(texts.stream().filter(t -> t.matches(pattern)).toList()));
        }
    }
}
