import java.util.*;
import java.util.stream.*;

/** Build order in layers, the critical path, cycles reported. */
public class BuildOrder {
    private final Map<String, List<String>> needs = new TreeMap<>();

    BuildOrder(String recipe) {
        recipe.lines().map(l -> l.split(":\\s*")).forEach(p -> {
            needs.put(p[0], p.length > 1 ? List.of(p[1].split(" ")) : List.of());
            needs.get(p[0]).forEach(n -> needs.putIfAbsent(n, List.of()));
        });
    }

    List<List<String>> layers() {
        var left = new TreeMap<String, Set<String>>();
        needs.forEach((k, v) -> left.put(k, new TreeSet<>(v)));
        var out = new ArrayList<List<String>>();
        while (!left.isEmpty()) {
            List<String> ready = left.entrySet().stream().filter(e -> e.getValue().isEmpty()).map(Map.Entry::getKey).toList();
            if (ready.isEmpty()) throw new IllegalStateException("cycle among " + left.keySet());
            ready.forEach(left::remove);
            left.values().forEach(s -> s.removeAll(ready));
            out.add(ready);
        }
        return out;
    }

    List<String> critical(String goal) {
        List<String> path = needs.get(goal).stream().map(this::critical).max(Comparator.comparingInt(List::size)).orElse(List.of());
        return Stream.concat(path.stream(), Stream.of(goal)).toList();
    }

    public static void main(String[] args) {
        String recipe = """
            bake: shape proof
            shape: knead
            knead: mix
            mix: flour water yeast salz
            proof: shape
            serve: bake slice butter 茶
            slice: bake""";
        var order = new BuildOrder(recipe);
        int step = 1;
        for (var layer : order.layers()) System.out.println(step++ + " " + layer);
        System.out.println(String.join(" → ", order.critical("serve")));
        try {
            new BuildOrder("a: b\nb: c\nc: a\nd: a").layers();
        } catch (IllegalStateException e) {
            System.out.println(e.getMessage());
        }
    }
}
