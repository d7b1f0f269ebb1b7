package lang;

import java.util.Scanner;
import lang.ast.Node;
import lang.back.Evaluator;
import lang.back.Printer;
import lang.front.LangException;
import lang.front.Parser;

public class Main {
    public static void main(String[] args) {
        var in = new Scanner(System.in, "UTF-8");
        var evaluator = new Evaluator();
        while (in.hasNextLine()) {
            String line = in.nextLine();
            if (line.isBlank()) continue;
            try {
                Node tree = Parser.parse(line);
                System.out.println(Printer.print(tree) + " → " + evaluator.evaluate(tree));
            } catch (LangException e) {
                System.out.println(line + " ✗ " + e.getMessage());
            }
        }
    }
}
