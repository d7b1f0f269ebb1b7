public class Main {
    static class Failure extends RuntimeException { Failure(String m, Throwable c) { super(m, c); } }

    static void deep(int n) { if (n == 0) throw new IllegalStateException("deep"); deep(n - 1); }

    public static void main(String[] args) throws Exception {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> System.out.println("at the end")));
        Thread other = new Thread(() -> { throw new Failure("elsewhere", null); }, "other");
        other.start();
        other.join();
        try { deep(2); } catch (IllegalStateException e) { throw new Failure("from it", e); }
    }
}
