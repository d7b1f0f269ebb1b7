package bank.store;

import bank.events.Event;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

public final class EventLog {
    private final Path file;

    public EventLog(Path file) { this.file = file; }

    public void append(Event event) {
        try {
            Files.writeString(file, event.line() + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public List<Event> read() {
        try {
            return Files.readAllLines(file).stream().map(Event::parse).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
