import java.util.*;
import java.util.function.*;

/** An order's life as an enumeration with transitions, guards and history. */
public class OrderMachine {
    enum Event { PAY, SHIP, DELIVER, CANCEL, REFUND }
    enum State {
        NEW(Event.PAY, Event.CANCEL), PAID(Event.SHIP, Event.REFUND, Event.CANCEL), SHIPPED(Event.DELIVER), DELIVERED(Event.REFUND), CANCELLED, REFUNDED;
        private final Set<Event> allowed;
        State(Event... allowed) { this.allowed = allowed.length == 0 ? EnumSet.noneOf(Event.class) : EnumSet.copyOf(List.of(allowed)); }
        boolean isFinal() { return allowed.isEmpty(); }
        State on(Event e) {
            if (!allowed.contains(e)) throw new IllegalStateException(e + " is not possible in " + this);
            return switch (e) {
                case PAY -> PAID;
                case SHIP -> SHIPPED;
                case DELIVER -> DELIVERED;
                case CANCEL -> CANCELLED;
                case REFUND -> REFUNDED;
            };
        }
    }

    private State state = State.NEW;
    private final List<State> history = new ArrayList<>(List.of(state));
    private final Map<State, Consumer<OrderMachine>> entering = new EnumMap<>(State.class);

    OrderMachine onEnter(State s, Consumer<OrderMachine> action) {
        entering.merge(s, action, Consumer::andThen);
        return this;
    }

    void send(Event e) {
        state = state.on(e);
        history.add(state);
        entering.getOrDefault(state, m -> {}).accept(this);
    }

    public static void main(String[] args) {
        for (var events : List.of(List.of(Event.PAY, Event.SHIP, Event.DELIVER), List.of(Event.CANCEL, Event.PAY), List.of(Event.SHIP), List.of(Event.PAY, Event.REFUND))) {
            var order = new OrderMachine().onEnter(State.PAID, m -> System.out.println("  Rechnung 📧")).onEnter(State.PAID, m -> System.out.println("  reserved")).onEnter(State.DELIVERED, m -> System.out.println("  danke, 谢谢"));
            try {
                events.forEach(order::send);
            } catch (IllegalStateException e) {
                System.out.println("  " + e.getMessage());
            }
            System.out.println(order.history + (order.state.isFinal() ? " final" : " open"));
        }
        for (State s : State.values()) System.out.println(s + " " + s.allowed);
    }
}
