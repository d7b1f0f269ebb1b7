import java.util.*;
import java.util.function.*;
import java.util.stream.*;

/** A tour of streams and collectors over records. */
public class StreamTour {
    record Book(String title, String author, int year, double price, List<String> tags) {}

    public static void main(String[] args) {
        var books = List.of(
            new Book("Momo", "Ende", 1973, 12.5, List.of("time", "children")),
            new Book("红楼梦", "曹雪芹", 1791, 30, List.of("classic")),
            new Book("Ficciones", "Borges", 1944, 9.99, List.of("time", "stories")),
            new Book("El Aleph", "Borges", 1949, 11, List.of("stories")),
            new Book("Größenwahn", "Ende", 1990, 5, List.of()));
        System.out.println(new TreeMap<>(books.stream().collect(Collectors.groupingBy(Book::author, Collectors.mapping(Book::title, Collectors.joining(" & "))))));
        System.out.println(books.stream().flatMap(b -> b.tags().stream()).distinct().sorted(Comparator.reverseOrder()).toList());
        System.out.println(books.stream().collect(Collectors.partitioningBy(b -> b.year() < 1950, Collectors.averagingDouble(Book::price))));
        long average = books.stream().collect(Collectors.teeing(Collectors.counting(), Collectors.summingInt(Book::year), (n, sum) -> sum / n));
        System.out.println(average);
        System.out.println(books.stream().sorted(Comparator.comparing(Book::author).thenComparing(Book::year, Comparator.reverseOrder())).map(Book::title).toList());
        System.out.println(new TreeMap<>(books.stream().collect(Collectors.toMap(Book::author, Book::price, Double::sum))));
        System.out.println(books.stream().max(Comparator.comparingDouble(Book::price)).map(Book::title).orElse("none") + " " + books.stream().mapToDouble(Book::price).summaryStatistics().getCount());
        System.out.println(Stream.iterate(new long[] {0, 1}, f -> new long[] {f[1], f[0] + f[1]}).limit(12).map(f -> f[0]).toList());
        System.out.println(IntStream.iterate(27, n -> n != 1, n -> n % 2 == 0 ? n / 2 : 3 * n + 1).count() + " " + IntStream.rangeClosed(1, 5).mapToObj(i -> "*".repeat(i)).collect(Collectors.joining("/")));
        System.out.println(Stream.of(5, 3, 8, 1).reduce(Integer::max).get() + " " + Stream.of("a", "b", "c").reduce("", (a, b) -> b + a) + " " + IntStream.of(3, 1, 2).boxed().sorted(Collections.reverseOrder()).toList());
        System.out.println(Stream.of(1, 2, 3, 4, 5, 1).takeWhile(n -> n < 4).toList() + "" + Stream.of(1, 2, 3, 4, 5, 1).dropWhile(n -> n < 4).toList() + Stream.of("x", "yy").<Object>mapMulti((s, out) -> { out.accept(s); out.accept(s.length()); }).toList());
        Function<Integer, Function<Integer, Integer>> add = a -> b -> a + b;
        UnaryOperator<String> shout = s -> s + "!";
        System.out.println(add.apply(3).apply(4) + " " + shout.andThen(String::toUpperCase).compose((Integer n) -> "n" + n).apply(5) + " " + Predicate.<String>not(String::isEmpty).or(s -> true).test(""));
        var seen = new ArrayList<String>();
        boolean any = Stream.of("one", "two", "three").peek(seen::add).anyMatch(s -> s.startsWith("t"));
        System.out.println(any + " " + seen);
        try {
            var s = Stream.of(1);
            s.count();
            s.count();
        } catch (IllegalStateException e) {
            System.out.println("a stream is used once");
        }
    }
}
