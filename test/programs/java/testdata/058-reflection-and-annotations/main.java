import java.lang.annotation.*;
import java.lang.reflect.*;
import java.util.*;
import java.util.stream.*;

/** A tiny test runner and a validator driven by annotations, and a dynamic proxy. */
public class Reflection {
    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.METHOD) @interface Test { Class<? extends Throwable> expects() default None.class; String name() default ""; }
    @Retention(RetentionPolicy.RUNTIME) @Target(ElementType.FIELD) @interface Range { int min() default 0; int max(); }
    static class None extends Throwable {}

    static class Person {
        @Range(max = 150) int age;
        @Range(min = 1, max = 10) int größe;
        String name = "?";
        Person(int age, int größe) { this.age = age; this.größe = größe; }
    }

    public static class Tests {
        @Test public void adds() { check(1 + 1 == 2); }
        @Test(name = "schlägt fehl ✗") public void broken() { check("a".isEmpty()); }
        @Test(expects = ArithmeticException.class) public void divides() { System.out.println(1 / (int) (0L)); }
        @Test(expects = IllegalStateException.class) public void forgets() {}
        public void helper() { throw new AssertionError("never called"); }
        private static void check(boolean holds) { if (!holds) throw new AssertionError("does not hold"); }
    }

    static List<String> validate(Object o) throws IllegalAccessException {
        var problems = new ArrayList<String>();
        for (Field f : Arrays.stream(o.getClass().getDeclaredFields()).filter(f -> f.isAnnotationPresent(Range.class)).sorted(Comparator.comparing(Field::getName)).toList()) {
            Range r = f.getAnnotation(Range.class);
            int v = f.getInt(o);
            if (v < r.min() || v > r.max()) problems.add(f.getName() + "=" + v + " not in " + r.min() + ".." + r.max());
        }
        return problems;
    }

    interface Greeter { String greet(String name); int count(); }

    public static void main(String[] args) throws Exception {
        System.out.println(validate(new Person(42, 5)) + " " + validate(new Person(-1, 11)));
        var tests = new Tests();
        for (Method m : Arrays.stream(Tests.class.getMethods()).filter(m -> m.isAnnotationPresent(Test.class)).sorted(Comparator.comparing(Method::getName)).toList()) {
            Test test = m.getAnnotation(Test.class);
            Throwable thrown = new None();
            try {
                m.invoke(tests);
            } catch (InvocationTargetException e) {
                thrown = e.getCause();
            }
            System.out.println((test.expects().isInstance(thrown) ? "ok   " : "FAIL ") + (test.name().isEmpty() ? m.getName() : test.name()));
        }
        var log = new ArrayList<String>();
        var greeter = (Greeter) Proxy.newProxyInstance(Reflection.class.getClassLoader(), new Class<?>[] {Greeter.class}, (proxy, method, values) -> {
            log.add(method.getName());
            return method.getReturnType() == int.class ? (Object) log.size() : "hello " + values[0];
        });
        System.out.println(greeter.greet("世界") + " " + greeter.count() + " " + log);
        Constructor<Person> constructor = Person.class.getDeclaredConstructor(int.class, int.class);
        System.out.println(constructor.newInstance(1, 2).größe + " " + Modifier.toString(Tests.class.getModifiers()) + " " + int[][].class.getSimpleName() + " " + List.class.getTypeParameters()[0]);
        Object array = Array.newInstance(String.class, 2);
        Array.set(array, 1, "é");
        System.out.println(Arrays.toString((String[]) array) + " " + Stream.of(Greeter.class.getMethods()).map(Method::getName).sorted().toList());
        try {
            Class.forName("no.such.Type");
        } catch (ClassNotFoundException e) {
            System.out.println("missing " + e.getMessage());
        }
    }
}
