package lang.back;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import lang.ast.Node;
import lang.front.LangException;

public final class Evaluator {
    private static final Map<String, ToDoubleFunction<List<Double>>> FUNCTIONS = Map.of(
        "sqrt", v -> Math.sqrt(v.get(0)),
        "max", v -> v.stream().mapToDouble(d -> d).max().orElseThrow(),
        "sum", v -> v.stream().mapToDouble(d -> d).sum());
    private final Map<String, Double> names = new HashMap<>(Map.of("π", 3.140625));

    public double evaluate(Node node) {
        if (node instanceof Node.Number n) return n.value();
        if (node instanceof Node.Name n) {
            Double value = names.get(n.name());
            if (value == null) throw new LangException("unknown name " + n.name());
            return value;
        }
        if (node instanceof Node.Let l) {
            double value = evaluate(l.value());
            names.put(l.name(), value);
            return value;
        }
        if (node instanceof Node.Call c) {
            var function = FUNCTIONS.get(c.function());
            if (function == null) throw new LangException("unknown function " + c.function());
            return function.applyAsDouble(c.arguments().stream().map(this::evaluate).toList());
        }
        var b = (Node.Binary) node;
        double left = evaluate(b.left()), right = evaluate(b.right());
        return switch (b.operator()) {
            case '+' -> left + right;
            case '-' -> left - right;
            case '*' -> left * right;
            case '^' -> Math.pow(left, right);
            default -> {
                if (right == 0) throw new LangException("division by zero");
                yield left / right;
            }
        };
    }
}
