package shop;

import java.util.List;
import shop.model.Cart;
import shop.model.Product;
import shop.pricing.Discount;
import shop.report.Receipt;

/** A shop in four packages. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        var tea = new Product("TEA", "Grüner Tee 绿茶", 450);
        var cup = new Product("CUP", "Tasse ☕", 1290);
        var cart = new Cart();
        cart.add(tea, 4);
        cart.add(cup, 2);
        cart.add(tea, 1);
        for (Discount discount : List.of(Discount.none(), Discount.percentOver(4000, 10), Discount.everyFifthFree())) {
            System.out.printf("%-18s %6d%n", discount.name(), discount.apply(cart));
        }
        System.out.print(Receipt.of(cart, Discount.percentOver(4000, 10)));
        try {
            cart.add(cup, 0);
        } catch (IllegalArgumentException e) {
            System.out.println("refused: " + e.getMessage());
        }
    }
}
