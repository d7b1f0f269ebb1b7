package shop.report;

import java.util.Locale;
import shop.model.Cart;
import shop.pricing.Discount;

public final class Receipt {
    private Receipt() {}

    public static String of(Cart cart, Discount discount) {
        var out = new StringBuilder();
        cart.lines().forEach((product, pieces) -> out.append(String.format(Locale.ROOT, "%2d × %-16s %8.2f%n", pieces, product.name(), product.cents() * pieces / 100.0)));
        return out.append(String.format(Locale.ROOT, "%-21s %8.2f%n", "total", discount.apply(cart) / 100.0)).toString();
    }
}
