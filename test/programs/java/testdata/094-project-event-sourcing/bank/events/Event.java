package bank.events;

public sealed interface Event permits Opened, Deposited, Withdrawn {
    String account();

    default String line() {
        long cents = this instanceof Deposited d ? d.cents() : this instanceof Withdrawn w ? w.cents() : 0;
        return getClass().getSimpleName() + "\t" + account() + "\t" + cents;
    }

    static Event parse(String line) {
        String[] p = line.split("\t");
        return switch (p[0]) {
            case "Opened" -> new Opened(p[1]);
            case "Deposited" -> new Deposited(p[1], Long.parseLong(p[2]));
            case "Withdrawn" -> new Withdrawn(p[1], Long.parseLong(p[2]));
            default -> throw new IllegalArgumentException(line);
        };
    }
}
