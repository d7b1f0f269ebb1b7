import java.util.*;
import java.util.stream.*;

/** 0/1 knapsack with reconstruction. */
public class Knapsack {
    record Item(String name, int weight, int value) {}

    static List<Item> pack(List<Item> items, int capacity) {
        int[][] best = new int[items.size() + 1][capacity + 1];
        for (int i = 1; i <= items.size(); i++) {
            Item item = items.get(i - 1);
            for (int room = 0; room <= capacity; room++) {
                best[i][room] = best[i - 1][room];
                if (item.weight() <= room) best[i][room] = Math.max(best[i][room], best[i - 1][room - item.weight()] + item.value());
            }
        }
        var chosen = new LinkedList<Item>();
        for (int i = items.size(), room = capacity; i > 0; i--) {
            if (best[i][room] != best[i - 1][room]) {
                chosen.addFirst(items.get(i - 1));
                room -= items.get(i - 1).weight();
            }
        }
        return chosen;
    }

    public static void main(String[] args) {
        var items = List.of(new Item("tent", 30, 90), new Item("stove", 12, 55), new Item("rope", 8, 20), new Item("axe", 15, 40), new Item("food", 22, 85), new Item("книга", 6, 12), new Item("lamp", 5, 25));
        for (int capacity : new int[] {4, 20, 50, 98}) {
            var chosen = pack(items, capacity);
            System.out.printf("%3d: value %3d, weight %2d %s%n", capacity, chosen.stream().mapToInt(Item::value).sum(),
                chosen.stream().mapToInt(Item::weight).sum(), chosen.stream().map(Item::name).collect(Collectors.joining(", ", "[", "]")));
        }
    }
}
