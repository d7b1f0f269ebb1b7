import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;

/** Typed publish and subscribe, with errors isolated and a scheduled clock. */
public class EventBus {
    private final Map<Class<?>, List<Consumer<Object>>> handlers = new LinkedHashMap<>();
    private final List<String> errors = new ArrayList<>();

    <E> AutoCloseable on(Class<E> type, Consumer<? super E> handler) {
        Consumer<Object> wrapped = e -> handler.accept(type.cast(e));
        handlers.computeIfAbsent(type, t -> new ArrayList<>()).add(wrapped);
        return () -> handlers.get(type).remove(wrapped);
    }

    void publish(Object event) {
        handlers.forEach((type, list) -> {
            if (!type.isInstance(event)) return;
            for (var handler : List.copyOf(list)) {
                try {
                    handler.accept(event);
                } catch (RuntimeException e) {
                    errors.add(e.getMessage());
                }
            }
        });
    }

    interface Domain {}
    record Ordered(String item, int pieces) implements Domain {}
    record Cancelled(String item) implements Domain {}

    public static void main(String[] args) throws Exception {
        var bus = new EventBus();
        var stock = new TreeMap<>(Map.of("Krebs 🦀", 5, "蛋", 12));
        bus.on(Ordered.class, o -> {
            int left = stock.get(o.item()) - o.pieces();
            if (left < 0) throw new IllegalStateException("only " + stock.get(o.item()) + " of " + o.item());
            stock.put(o.item(), left);
        });
        var log = new ArrayList<String>();
        bus.on(Domain.class, e -> log.add(e.toString()));
        try (var mail = bus.on(Ordered.class, o -> System.out.println("mail: " + o.pieces() + " × " + o.item()))) {
            bus.publish(new Ordered("Krebs 🦀", 2));
            bus.publish(new Ordered("蛋", 20));
        }
        bus.publish(new Ordered("蛋", 2));
        bus.publish(new Cancelled("蛋"));
        bus.publish("nobody listens to strings");
        System.out.println(stock + " " + bus.errors);
        log.forEach(System.out::println);
        ScheduledExecutorService clock = Executors.newScheduledThreadPool(1);
        var ticks = new CountDownLatch(3);
        var order = new ConcurrentLinkedQueue<String>();
        clock.schedule(() -> order.add("later"), 250, TimeUnit.MILLISECONDS).isDone();
        clock.schedule(() -> order.add("soon"), 1, TimeUnit.MILLISECONDS);
        var repeated = clock.scheduleAtFixedRate(ticks::countDown, 0, 5, TimeUnit.MILLISECONDS);
        System.out.println("ticked: " + ticks.await(5, TimeUnit.SECONDS) + ", cancelled: " + repeated.cancel(false));
        clock.shutdown();
        System.out.println(clock.awaitTermination(5, TimeUnit.SECONDS) + " " + order);
    }
}
