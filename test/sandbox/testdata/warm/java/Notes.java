import java.util.*;

public class Main {
    interface Shape { double area(); }
    record Circle(double r) implements Shape { public double area() { return Math.PI * r * r; } }
    enum Kind { A, B { @Override public String toString() { return "b"; } } }

    @SuppressWarnings("rawtypes")
    public static void main(String[] args) throws Exception {
        List list = new ArrayList();
        list.add(new Circle(1)); System.out.println(list + " " + Kind.B + new Date(0L).getYear());
    }
}
