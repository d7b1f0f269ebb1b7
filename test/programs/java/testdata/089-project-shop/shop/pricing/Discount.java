package shop.pricing;

import java.util.function.ToIntFunction;
import shop.model.Cart;

public record Discount(String name, ToIntFunction<Cart> rule) {
    public int apply(Cart cart) { return rule.applyAsInt(cart); }

    public static Discount none() { return new Discount("none", Cart::total); }

    public static Discount percentOver(int limit, int percent) {
        return new Discount(percent + "% over " + limit / 100, cart -> cart.total() > limit ? cart.total() * (100 - percent) / 100 : cart.total());
    }

    public static Discount everyFifthFree() {
        return new Discount("every fifth free", cart -> cart.lines().entrySet().stream().mapToInt(e -> e.getKey().cents() * (e.getValue() - e.getValue() / 5)).sum());
    }
}
