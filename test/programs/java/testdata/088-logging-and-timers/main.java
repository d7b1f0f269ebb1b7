import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.logging.*;
import java.util.logging.Formatter;

/** java.util.logging with a formatter, a filter, levels, handlers to memory and standard output. */
public class LoggingTour {
    static final class Line extends Formatter {
        private int number;
        @Override public String format(LogRecord r) {
            String error = r.getThrown() == null ? "" : " ← " + r.getThrown();
            return String.format("%02d %-7s %-10s %s%s%n", ++number, r.getLevel(), r.getLoggerName(), formatMessage(r), error);
        }
    }

    static final class Counting extends Handler {
        final Map<String, Integer> counts = new TreeMap<>();
        @Override public void publish(LogRecord r) { if (isLoggable(r)) counts.merge(r.getLevel().getName(), 1, Integer::sum); }
        @Override public void flush() {}
        @Override public void close() {}
    }

    public static void main(String[] args) throws UnsupportedEncodingException {
        Logger app = Logger.getLogger("app"), db = Logger.getLogger("app.db");
        app.setUseParentHandlers(false);
        app.setLevel(Level.FINE);
        var screen = new StreamHandler(System.out, new Line());
        screen.setEncoding("UTF-8");
        screen.setLevel(Level.INFO);
        screen.setFilter(r -> !r.getMessage().contains("geheim"));
        var counting = new Counting();
        counting.setLevel(Level.ALL);
        app.addHandler(screen);
        app.addHandler(counting);
        app.info("started 🦀");
        db.log(Level.WARNING, "slow query: {0} ms in {1}", new Object[] {850, "köln"});
        db.fine("only counted");
        db.finest("not even that");
        app.info("password is geheim");
        app.log(Level.SEVERE, "failed", new IllegalStateException("数据库"));
        db.setLevel(Level.OFF);
        db.severe("silenced");
        app.warning(() -> "lazy " + 6 * 7);
        screen.flush();
        System.out.println(counting.counts + " " + app.isLoggable(Level.FINER) + " " + db.getParent().getName() + " " + Level.parse("CONFIG").intValue());

        var bytes = new ByteArrayOutputStream();
        PrintStream original = System.out;
        System.setOut(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        System.out.print("captured é");
        System.setOut(original);
        System.out.println(bytes.size() + " bytes: " + bytes.toString(StandardCharsets.UTF_8));
        var writer = new StringWriter();
        new Throwable("trace").printStackTrace(new PrintWriter(writer));
        System.out.println(writer.toString().lines().limit(2).map(String::strip).map(l -> l.replaceAll("\\(.*", "")).toList());
    }
}
