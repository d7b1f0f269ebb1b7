import java.util.*;

/** Shortest paths over an adjacency map with a priority queue. */
class Dijkstra {
    record Edge(String to, int cost) {}
    record Visit(String node, int total) {}

    private final Map<String, List<Edge>> graph = new TreeMap<>();

    void connect(String a, String b, int cost) {
        graph.computeIfAbsent(a, k -> new ArrayList<>()).add(new Edge(b, cost));
        graph.computeIfAbsent(b, k -> new ArrayList<>()).add(new Edge(a, cost));
    }

    Map<String, Integer> from(String start, Map<String, String> previous) {
        Map<String, Integer> best = new TreeMap<>();
        var queue = new PriorityQueue<>(Comparator.comparingInt(Visit::total).thenComparing(Visit::node));
        best.put(start, 0);
        queue.add(new Visit(start, 0));
        while (!queue.isEmpty()) {
            Visit visit = queue.poll();
            if (visit.total() > best.get(visit.node())) continue;
            for (Edge edge : graph.get(visit.node())) {
                int total = visit.total() + edge.cost();
                if (total < best.getOrDefault(edge.to(), Integer.MAX_VALUE)) {
                    best.put(edge.to(), total);
                    previous.put(edge.to(), visit.node());
                    queue.add(new Visit(edge.to(), total));
                }
            }
        }
        return best;
    }

    public static void main(String[] args) {
        var map = new Dijkstra();
        String[] roads = {"Köln Bonn 30", "Köln Aachen 70", "Bonn Koblenz 60", "Aachen Trier 150", "Koblenz Trier 130", "Koblenz Mainz 90", "Mainz Trier 160"};
        for (String road : roads) {
            String[] parts = road.split(" ");
            map.connect(parts[0], parts[1], Integer.parseInt(parts[2]));
        }
        Map<String, String> previous = new HashMap<>();
        map.from("Köln", previous).forEach((town, km) -> {
            Deque<String> path = new ArrayDeque<>();
            for (String at = town; at != null; at = previous.get(at)) path.push(at);
            System.out.printf("%-8s %4d km  %s%n", town, km, String.join(" → ", path));
        });
    }
}
