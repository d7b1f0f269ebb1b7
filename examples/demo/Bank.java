import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Groups transactions with records, a sealed interface and streams. */
public class Bank {
    sealed interface Transaction permits Deposit, Withdrawal {
        String account();

        long cents();
    }

    record Deposit(String account, long cents) implements Transaction {}

    record Withdrawal(String account, long cents) implements Transaction {}

    static long signed(Transaction t) {
        return t instanceof Withdrawal ? -t.cents() : t.cents();
    }

    public static void main(String[] args) {
        List<Transaction> book = List.of(
                new Deposit("ada", 120_00), new Withdrawal("ada", 19_95),
                new Deposit("linus", 50_00), new Deposit("ada", 3_50), new Withdrawal("linus", 7_25));
        book.stream()
                .collect(Collectors.groupingBy(Transaction::account, Collectors.summingLong(Bank::signed)))
                .entrySet().stream()
                .sorted(Comparator.comparing(e -> e.getKey()))
                .forEach(e -> System.out.printf("%s has %d.%02d%n", e.getKey(), e.getValue() / 100, e.getValue() % 100));
    }
}
