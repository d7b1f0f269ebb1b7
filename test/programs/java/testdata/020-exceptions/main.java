import java.util.*;

/** Checked and unchecked errors, causes, suppressed ones, finally, try with resources. */
public class Exceptions {
    static class StoreException extends Exception {
        StoreException(String message, Throwable cause) { super(message, cause); }
    }

    record Resource(String name, boolean breaks) implements AutoCloseable {
        Resource {
            System.out.println("  open " + name);
        }
        @Override public void close() {
            System.out.println("  close " + name);
            if (breaks) throw new IllegalStateException(name + " would not close");
        }
    }

    static int load(String id) throws StoreException {
        try (var outer = new Resource("böse " + id, id.equals("3")); var inner = new Resource("inner", false)) {
            return Integer.parseInt(id.equals("2") ? "zwei" : id) / (id.equals("3") ? 0 : 1);
        } catch (NumberFormatException | ArithmeticException e) {
            throw new StoreException("record " + id, e);
        }
    }

    @SuppressWarnings("finally")
    static String order() {
        try {
            throw new RuntimeException();
        } catch (RuntimeException e) {
            return "catch";
        } finally {
            System.out.println("finally runs before the return");
        }
    }

    public static void main(String[] args) {
        for (String id : List.of("1", "2", "3")) {
            try {
                System.out.println("loaded " + load(id));
            } catch (StoreException e) {
                Throwable cause = e.getCause();
                System.out.println(e.getMessage() + " ← " + cause.getClass().getSimpleName() + ", suppressed " + Arrays.stream(cause.getSuppressed()).map(Throwable::getMessage).toList());
            }
        }
        System.out.println(order());
        Runnable[] faults = {() -> List.of(1).add(2), () -> new ArrayList<>(List.of(1, 2)).iterator().remove(), () -> { Object o = "x"; Integer i = (Integer) o; }, () -> { int[] a = new int[1]; a[1] = 0; },
            () -> new ArrayDeque<>().pop(), () -> Optional.empty().orElseThrow(), () -> Objects.requireNonNull(null, "müssen wir haben"), () -> Thread.State.valueOf("NONE")};
        for (Runnable fault : faults) {
            try {
                fault.run();
            } catch (RuntimeException e) {
                System.out.println(e.getClass().getSimpleName());
            }
        }
        try {
            deeper(0);
        } catch (StackOverflowError e) {
            System.out.println("the stack has an end");
        }
    }

    static int deeper(int n) { return deeper(n + 1) + 1; }
}
