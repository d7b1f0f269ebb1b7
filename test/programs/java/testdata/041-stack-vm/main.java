import java.util.*;
import java.util.function.*;

/** A stack machine with an enumeration of instructions, an assembler and traps. */
public class StackVm {
    enum Op {
        PUSH(1), LOAD(1), STORE(1), ADD(0), SUB(0), MUL(0), DIV(0), MOD(0), LESS(0), JUMP(1), JUMPZ(1), CALL(1), RET(0), PRINT(0), HALT(0);
        final int operands;
        Op(int operands) { this.operands = operands; }
    }

    record Instruction(Op op, int operand) {
        @Override public String toString() { return op + (op.operands > 0 ? " " + operand : ""); }
    }

    static List<Instruction> assemble(String source) {
        Map<String, Integer> labels = new HashMap<>();
        var lines = new ArrayList<String>();
        for (String line : source.lines().map(String::strip).filter(l -> !l.isEmpty()).toList()) {
            if (line.endsWith(":")) labels.put(line.substring(0, line.length() - 1), lines.size());
            else lines.add(line);
        }
        return lines.stream().map(line -> {
            String[] p = line.split("\\s+");
            int operand = p.length < 2 ? 0 : labels.containsKey(p[1]) ? labels.get(p[1]) : Integer.parseInt(p[1]);
            return new Instruction(Op.valueOf(p[0].toUpperCase(Locale.ROOT)), operand);
        }).toList();
    }

    static long run(List<Instruction> code, long limit) {
        Map<Op, LongBinaryOperator> binary = new EnumMap<>(Op.class);
        binary.put(Op.ADD, Long::sum);
        binary.put(Op.SUB, (a, b) -> a - b);
        binary.put(Op.MUL, Math::multiplyExact);
        binary.put(Op.DIV, (a, b) -> a / b);
        binary.put(Op.MOD, (a, b) -> a % b);
        binary.put(Op.LESS, (a, b) -> a < b ? 1 : 0);
        Deque<Long> stack = new ArrayDeque<>();
        Deque<Integer> calls = new ArrayDeque<>();
        long[] memory = new long[8];
        long steps = 0;
        for (int pc = 0; ; steps++) {
            if (steps == limit) throw new IllegalStateException("no end after " + limit + " steps");
            Instruction i = code.get(pc++);
            if (binary.containsKey(i.op())) {
                long b = stack.pop(), a = stack.pop();
                stack.push(binary.get(i.op()).applyAsLong(a, b));
                continue;
            }
            switch (i.op()) {
                case PUSH -> stack.push((long) i.operand());
                case LOAD -> stack.push(memory[i.operand()]);
                case STORE -> memory[i.operand()] = stack.pop();
                case JUMP -> pc = i.operand();
                case JUMPZ -> pc = stack.pop() == 0 ? i.operand() : pc;
                case CALL -> {
                    calls.push(pc);
                    pc = i.operand();
                }
                case RET -> pc = calls.pop();
                case PRINT -> System.out.println("> " + stack.pop());
                default -> { return steps; }
            }
        }
    }

    public static void main(String[] args) {
        var gcd = assemble("""
            push 1071
            store 0
            push 462
            store 1
            loop:
            load 1
            jumpz done
            load 0
            load 1
            mod
            load 1
            store 0
            store 1
            jump loop
            done:
            load 0
            print
            call square
            halt
            square:
            load 0
            load 0
            mul
            print
            ret
            """);
        System.out.println(gcd.size() + " instructions: " + gcd);
        System.out.println(run(gcd, 1000) + " steps");
        for (String bad : List.of("push 1\npush 0\ndiv\nhalt", "here:\njump here", "add", "explode")) {
            try {
                run(assemble(bad), 500);
            } catch (ArithmeticException | IllegalStateException | NoSuchElementException | IllegalArgumentException e) {
                System.out.println("trap: " + e.getClass().getSimpleName());
            }
        }
    }
}
