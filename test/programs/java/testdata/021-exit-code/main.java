import java.util.*;

/** Reports on both streams, runs its shutdown hook, ends with 7. */
public class ExitCode {
    public static void main(String[] args) {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("hook: goodbye 🦀")));
        Map<String, Boolean> checks = new LinkedHashMap<>();
        checks.put("integers wrap", Integer.MAX_VALUE + 1 == Integer.MIN_VALUE);
        checks.put("strings are equal", "äö".equals("ä" + "ö"));
        checks.put("0.1 + 0.2 is 0.3", 0.1 + 0.2 == 0.3);
        checks.forEach((name, holds) -> System.out.println((holds ? "✓ " : "✗ ") + name));
        if (checks.containsValue(false)) {
            System.err.println("some checks failed");
            System.exit(7);
        }
    }
}
