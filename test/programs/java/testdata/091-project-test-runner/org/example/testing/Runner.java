package org.example.testing;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.example.tests.StackTest;
import org.example.tests.TextTest;

/** Runs annotated tests by reflection and leaves the number of failures. */
public final class Runner {
    private int passed;
    private final List<String> failures = new ArrayList<>();

    void run(Class<?> type) throws ReflectiveOperationException {
        for (Method method : Arrays.stream(type.getDeclaredMethods()).filter(m -> m.isAnnotationPresent(Test.class)).sorted(Comparator.comparing(Method::getName)).toList()) {
            Object instance = type.getDeclaredConstructor().newInstance();
            Class<? extends Throwable> expected = method.getAnnotation(Test.class).expected();
            try {
                method.setAccessible(true);
                method.invoke(instance);
                record(type, method, expected == Test.Nothing.class ? null : "expected " + expected.getSimpleName());
            } catch (InvocationTargetException e) {
                record(type, method, expected.isInstance(e.getCause()) ? null : e.getCause().getMessage());
            }
        }
    }

    private void record(Class<?> type, Method method, String problem) {
        System.out.println((problem == null ? "✓ " : "✗ ") + type.getSimpleName() + "." + method.getName() + (problem == null ? "" : ": " + problem));
        if (problem == null) passed++;
        else failures.add(method.getName());
    }

    public static void main(String[] args) throws ReflectiveOperationException {
        var runner = new Runner();
        for (Class<?> type : List.of(StackTest.class, TextTest.class)) runner.run(type);
        System.out.println(runner.passed + " passed, " + runner.failures.size() + " failed " + runner.failures);
        System.exit(runner.failures.size());
    }
}
