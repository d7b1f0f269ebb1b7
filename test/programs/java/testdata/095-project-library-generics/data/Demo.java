package data;

import data.structures.Graph;
import data.structures.Matrix;
import data.structures.Tree;
import java.util.List;

public class Demo {
    public static void main(String[] args) {
        var tree = Tree.of(5, 2, 8, 1, 9, 3);
        System.out.println(tree + " depth " + tree.depth() + " mapped " + tree.map(n -> "n" + n));
        System.out.println(tree.contains(8) + " " + tree.contains(7) + " sum " + tree.fold(0, Integer::sum));
        var graph = new Graph<String>();
        graph.edge("köln", "bonn", 30).edge("bonn", "koblenz", 60).edge("köln", "koblenz", 100).edge("koblenz", "北京", 9000).node("insel 🏝");
        System.out.println(graph.path("köln", "北京").orElse(List.of()) + " " + graph.path("köln", "insel 🏝").isPresent());
        System.out.println(graph.components());
        var m = new Matrix<>(2, 2, (i, j) -> i * 2 + j + 1);
        System.out.println(m + " transposed " + m.transpose() + " " + m.map(n -> n * n / 2.0));
        try {
            m.get(2, 0);
        } catch (IndexOutOfBoundsException e) {
            System.out.println(e.getMessage());
        }
    }
}
