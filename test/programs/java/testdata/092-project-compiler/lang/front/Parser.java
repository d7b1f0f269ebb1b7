package lang.front;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import lang.ast.Node;

public final class Parser {
    private static final String[] LEVELS = {"+-", "*/", "^"};
    private final Deque<String> tokens;

    private Parser(String text) { tokens = new ArrayDeque<>(Lexer.tokens(text)); }

    public static Node parse(String text) {
        var parser = new Parser(text);
        Node node = parser.statement();
        if (!parser.tokens.isEmpty()) throw new LangException("unexpected " + parser.tokens.peek());
        return node;
    }

    private Node statement() {
        Node node = expression(0);
        if (!"=".equals(tokens.peek())) return node;
        tokens.pop();
        if (!(node instanceof Node.Name name)) throw new LangException("cannot assign to that");
        return new Node.Let(name.name(), statement());
    }

    private Node expression(int level) {
        if (level == LEVELS.length) return primary();
        Node left = expression(level + 1);
        while (!tokens.isEmpty() && tokens.peek().length() == 1 && LEVELS[level].contains(tokens.peek())) {
            char operator = tokens.pop().charAt(0);
            left = new Node.Binary(operator, left, expression(operator == '^' ? level : level + 1));
        }
        return left;
    }

    private Node primary() {
        if (tokens.isEmpty()) throw new LangException("unexpected end");
        String token = tokens.pop();
        if (token.equals("-")) return new Node.Binary('-', new Node.Number(0), expression(2));
        if (token.equals("(")) {
            Node inner = expression(0);
            expect(")");
            return inner;
        }
        if (Character.isDigit(token.charAt(0))) return new Node.Number(Double.parseDouble(token));
        if (!Character.isLetter(token.charAt(0))) throw new LangException("unexpected " + token);
        if (!"(".equals(tokens.peek())) return new Node.Name(token);
        var arguments = new ArrayList<Node>();
        do {
            tokens.pop();
            arguments.add(expression(0));
        } while (",".equals(tokens.peek()));
        expect(")");
        return new Node.Call(token, arguments);
    }

    private void expect(String token) {
        if (tokens.isEmpty() || !tokens.pop().equals(token)) throw new LangException("expected " + token);
    }
}
