import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

/** A Brainfuck interpreter with a jump table; program from standard input. */
public class Brainfuck {
    static String run(String source, String input) {
        int[] code = source.chars().filter(c -> "+-<>.,[]".indexOf(c) >= 0).toArray();
        int[] jump = new int[code.length];
        var open = new ArrayDeque<Integer>();
        for (int i = 0; i < code.length; i++) {
            if (code[i] == '[') open.push(i);
            else if (code[i] == ']') {
                if (open.isEmpty()) throw new IllegalArgumentException("] without [ at " + i);
                int start = open.pop();
                jump[start] = i;
                jump[i] = start;
            }
        }
        if (!open.isEmpty()) throw new IllegalArgumentException("[ without ] at " + open.peek());
        byte[] tape = new byte[3000];
        var in = new ByteArrayInputStream(input.getBytes(StandardCharsets.UTF_8));
        var out = new ByteArrayOutputStream();
        for (int pc = 0, p = 0; pc < code.length; pc++) {
            switch (code[pc]) {
                case '>' -> p++;
                case '<' -> p--;
                case '+' -> tape[p]++;
                case '-' -> tape[p]--;
                case '.' -> out.write(tape[p]);
                case ',' -> tape[p] = (byte) Math.max(0, in.read());
                case '[' -> pc = tape[p] == 0 ? jump[pc] : pc;
                default -> pc = tape[p] != 0 ? jump[pc] : pc;
            }
        }
        return out.toString(StandardCharsets.UTF_8);
    }

    public static void main(String[] args) throws IOException {
        System.out.print(run(new String(System.in.readAllBytes(), StandardCharsets.UTF_8), ""));
        System.out.println(run(",[.,]", "echo 你好 🦀") + " " + run(">,[>,]<[.<]", "drawer"));
        for (String bad : List.of("[[]", "+]")) {
            try {
                run(bad, "");
            } catch (IllegalArgumentException e) {
                System.out.println(e.getMessage());
            }
        }
    }
}
