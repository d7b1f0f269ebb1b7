import java.util.*;

/** Recursive descent over a sealed expression tree. */
public class Calculator {
    sealed interface Expr permits Num, Neg, Bin {}
    record Num(double value) implements Expr {}
    record Neg(Expr inner) implements Expr {}
    record Bin(char op, Expr left, Expr right) implements Expr {}

    private final String text;
    private int at;

    Calculator(String text) { this.text = text.replace(" ", ""); }

    Expr parse() {
        Expr e = sum();
        if (at < text.length()) throw new IllegalArgumentException("unexpected '" + text.charAt(at) + "' at " + at);
        return e;
    }

    private boolean accept(char c) {
        boolean there = at < text.length() && text.charAt(at) == c;
        if (there) at++;
        return there;
    }

    private Expr sum() {
        Expr left = product();
        while (true) {
            if (accept('+')) left = new Bin('+', left, product());
            else if (accept('-')) left = new Bin('-', left, product());
            else return left;
        }
    }

    private Expr product() {
        Expr left = factor();
        while (true) {
            if (accept('*')) left = new Bin('*', left, factor());
            else if (accept('/')) left = new Bin('/', left, factor());
            else return left;
        }
    }

    private Expr factor() {
        if (accept('-')) return new Neg(factor());
        if (accept('(')) {
            Expr inner = sum();
            if (!accept(')')) throw new IllegalArgumentException("missing )");
            return inner;
        }
        int start = at;
        while (at < text.length() && (Character.isDigit(text.charAt(at)) || text.charAt(at) == '.')) at++;
        if (start == at) throw new IllegalArgumentException(at < text.length() ? "unexpected '" + text.charAt(at) + "'" : "unexpected end");
        return new Num(Double.parseDouble(text.substring(start, at)));
    }

    static double evaluate(Expr e) {
        if (e instanceof Num n) return n.value();
        if (e instanceof Neg n) return -evaluate(n.inner());
        Bin b = (Bin) e;
        double left = evaluate(b.left()), right = evaluate(b.right());
        return switch (b.op()) {
            case '+' -> left + right;
            case '-' -> left - right;
            case '*' -> left * right;
            default -> {
                if (right == 0) throw new ArithmeticException("division by zero");
                yield left / right;
            }
        };
    }

    public static void main(String[] args) {
        var in = new Scanner(System.in, "UTF-8");
        while (in.hasNextLine()) {
            String line = in.nextLine();
            try {
                Expr e = new Calculator(line).parse();
                System.out.printf(Locale.ROOT, "%s = %.6g%n", line, evaluate(e));
            } catch (IllegalArgumentException | ArithmeticException e) {
                System.out.println(line + " ✗ " + e.getMessage());
            }
        }
    }
}
