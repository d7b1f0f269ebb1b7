package shop.model;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

public final class Cart {
    private final Map<Product, Integer> lines = new LinkedHashMap<>();

    public void add(Product product, int pieces) {
        if (pieces < 1) throw new IllegalArgumentException(pieces + " pieces of " + product.name());
        lines.merge(product, pieces, Integer::sum);
    }

    public Map<Product, Integer> lines() { return Collections.unmodifiableMap(lines); }

    public int total() { return lines.entrySet().stream().mapToInt(e -> e.getKey().cents() * e.getValue()).sum(); }
}
