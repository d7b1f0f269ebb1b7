package bank;

import bank.events.Deposited;
import bank.events.Event;
import bank.events.Opened;
import bank.events.Withdrawn;
import bank.store.EventLog;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/** Accounts as a log of events in a file, replayed. */
public class Bank {
    private final EventLog log;

    Bank(EventLog log) { this.log = log; }

    Map<String, Long> balances(int until) {
        var out = new TreeMap<String, Long>();
        for (Event e : log.read().subList(0, Math.min(until, log.read().size()))) {
            if (e instanceof Opened o) out.put(o.account(), 0L);
            else if (e instanceof Deposited d) out.merge(d.account(), d.cents(), Long::sum);
            else if (e instanceof Withdrawn w) out.merge(w.account(), -w.cents(), Long::sum);
        }
        return out;
    }

    void withdraw(String account, long cents) {
        Long balance = balances(Integer.MAX_VALUE).get(account);
        if (balance == null) throw new IllegalArgumentException("no account " + account);
        if (balance < cents) throw new IllegalStateException(account + " has only " + balance);
        log.append(new Withdrawn(account, cents));
    }

    public static void main(String[] args) {
        Path file = Path.of("ereignisse.log");
        var bank = new Bank(new EventLog(file));
        bank.log.append(new Opened("Ada"));
        bank.log.append(new Opened("李雷 🦀"));
        bank.log.append(new Deposited("Ada", 10_000));
        bank.withdraw("Ada", 2_550);
        bank.log.append(new Deposited("李雷 🦀", 2_550));
        for (var attempt : new String[][] {{"李雷 🦀", "9999"}, {"nobody", "1"}}) {
            try {
                bank.withdraw(attempt[0], Long.parseLong(attempt[1]));
            } catch (IllegalStateException | IllegalArgumentException e) {
                System.out.println("refused: " + e.getMessage());
            }
        }
        System.out.println(bank.balances(Integer.MAX_VALUE) + " after 3: " + bank.balances(3));
        var again = new EventLog(file).read();
        System.out.println(again.equals(bank.log.read()) + " " + again.size());
        again.forEach(System.out::println);
    }
}
