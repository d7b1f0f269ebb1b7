package sandbox_run;

/** Waits where a virtual machine asks its agents, before it loads the program. */
public final class Ahead {
    private Ahead() {}

    public static void premain(String unused) throws Exception {
        Class.forName("java.lang.invoke.StringConcatFactory"); // what most programs need first
        Work.await();
    }
}
