package lang.ast;

import java.util.List;

public sealed interface Node {
    record Number(double value) implements Node {}
    record Name(String name) implements Node {}
    record Binary(char operator, Node left, Node right) implements Node {}
    record Let(String name, Node value) implements Node {}
    record Call(String function, List<Node> arguments) implements Node {}
}
