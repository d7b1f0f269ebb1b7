package lang.back;

import java.util.stream.Collectors;
import lang.ast.Node;

public final class Printer {
    private Printer() {}

    public static String print(Node node) {
        if (node instanceof Node.Number n) return n.value() == Math.rint(n.value()) ? String.valueOf((long) n.value()) : String.valueOf(n.value());
        if (node instanceof Node.Name n) return n.name();
        if (node instanceof Node.Let l) return l.name() + " := " + print(l.value());
        if (node instanceof Node.Call c) return c.function() + c.arguments().stream().map(Printer::print).collect(Collectors.joining(", ", "(", ")"));
        var b = (Node.Binary) node;
        return "(" + print(b.left()) + " " + b.operator() + " " + print(b.right()) + ")";
    }
}
