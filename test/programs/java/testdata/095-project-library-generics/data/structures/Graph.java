package data.structures;

import java.util.*;

public final class Graph<N extends Comparable<N>> {
    private final Map<N, Map<N, Integer>> edges = new TreeMap<>();

    private record Step<N>(int cost, List<N> path) {}

    public Graph<N> node(N n) {
        edges.computeIfAbsent(n, k -> new TreeMap<>());
        return this;
    }

    public Graph<N> edge(N a, N b, int cost) {
        node(a).node(b);
        edges.get(a).put(b, cost);
        edges.get(b).put(a, cost);
        return this;
    }

    public Optional<List<N>> path(N from, N to) {
        var queue = new PriorityQueue<Step<N>>(Comparator.comparingInt(Step::cost));
        var done = new HashSet<N>();
        queue.add(new Step<>(0, List.of(from)));
        while (!queue.isEmpty()) {
            Step<N> step = queue.poll();
            N at = step.path().get(step.path().size() - 1);
            if (at.equals(to)) return Optional.of(step.path());
            if (!done.add(at)) continue;
            edges.get(at).forEach((next, cost) -> {
                var path = new ArrayList<>(step.path());
                path.add(next);
                queue.add(new Step<>(step.cost() + cost, path));
            });
        }
        return Optional.empty();
    }

    public List<Set<N>> components() {
        var out = new ArrayList<Set<N>>();
        for (N n : edges.keySet()) if (out.stream().noneMatch(c -> c.contains(n))) {
            var found = new TreeSet<N>();
            var stack = new ArrayDeque<>(List.of(n));
            while (!stack.isEmpty()) {
                N top = stack.pop();
                if (found.add(top)) stack.addAll(edges.get(top).keySet());
            }
            out.add(found);
        }
        return out;
    }
}
