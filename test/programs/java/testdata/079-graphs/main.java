import java.util.*;
import java.util.stream.*;

/** Strong components, bipartition, Floyd-Warshall, maximum flow. */
public class Graphs {
    static final Map<String, List<String>> GRAPH = new TreeMap<>();

    static List<List<String>> components(Map<String, List<String>> graph) {
        var order = new ArrayDeque<String>();
        var seen = new HashSet<String>();
        graph.keySet().forEach(v -> visit(graph, v, seen, order));
        var reversed = new TreeMap<String, List<String>>();
        graph.forEach((v, ws) -> ws.forEach(w -> reversed.computeIfAbsent(w, k -> new ArrayList<>()).add(v)));
        seen.clear();
        var out = new ArrayList<List<String>>();
        for (String v : order) {
            var part = new ArrayDeque<String>();
            visit(reversed, v, seen, part);
            if (!part.isEmpty()) out.add(part.stream().sorted().toList());
        }
        return out;
    }

    private static void visit(Map<String, List<String>> graph, String v, Set<String> seen, Deque<String> order) {
        if (!seen.add(v)) return;
        graph.getOrDefault(v, List.of()).forEach(w -> visit(graph, w, seen, order));
        order.push(v);
    }

    static int flow(int[][] capacity, int source, int sink) {
        for (int total = 0; ; ) {
            int[] from = new int[capacity.length];
            Arrays.fill(from, -1);
            from[source] = source;
            var queue = new ArrayDeque<>(List.of(source));
            while (!queue.isEmpty() && from[sink] < 0) {
                int v = queue.poll();
                for (int w = 0; w < from.length; w++) if (capacity[v][w] > 0 && from[w] < 0) {
                    from[w] = v;
                    queue.add(w);
                }
            }
            if (from[sink] < 0) return total;
            int push = Integer.MAX_VALUE;
            for (int v = sink; v != source; v = from[v]) push = Math.min(push, capacity[from[v]][v]);
            for (int v = sink; v != source; v = from[v]) {
                capacity[from[v]][v] -= push;
                capacity[v][from[v]] += push;
            }
            total += push;
        }
    }

    public static void main(String[] args) {
        for (String edge : "a-b b-c b-e b-f c-d c-g d-c d-h e-a e-f f-g g-f g-h h-h ñ-a".split(" ")) GRAPH.computeIfAbsent(edge.split("-")[0], k -> new ArrayList<>()).add(edge.split("-")[1]);
        System.out.println(components(GRAPH));
        int none = 1_000_000;
        int[][] d = {{0, 3, none, 7}, {8, 0, 2, none}, {5, none, 0, 1}, {2, none, none, 0}};
        for (int k = 0; k < 4; k++) for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) d[i][j] = Math.min(d[i][j], d[i][k] + d[k][j]);
        System.out.println(Arrays.deepToString(d));
        int[][] capacity = new int[6][6];
        int[][] pipes = {{0, 1, 16}, {0, 2, 13}, {1, 3, 12}, {2, 1, 4}, {2, 4, 14}, {3, 2, 9}, {3, 5, 20}, {4, 3, 7}, {4, 5, 4}};
        for (int[] p : pipes) capacity[p[0]][p[1]] = p[2];
        System.out.println("flow " + flow(capacity, 0, 5));
        for (String text : List.of("ab bc cd da", "ab bc ca", "ab cd")) {
            var colour = new TreeMap<Character, Boolean>();
            boolean[] fine = {true};
            for (int round = 0; round < 4; round++) for (String e : text.split(" ")) {
                colour.putIfAbsent(e.charAt(0), colour.containsKey(e.charAt(1)) ? !colour.get(e.charAt(1)) : true);
                colour.putIfAbsent(e.charAt(1), !colour.get(e.charAt(0)));
                fine[0] &= colour.get(e.charAt(0)) != colour.get(e.charAt(1));
            }
            System.out.println(text + " bipartite: " + fine[0] + (fine[0] ? " " + colour.entrySet().stream().collect(Collectors.partitioningBy(Map.Entry::getValue, Collectors.mapping(Map.Entry::getKey, Collectors.toList()))) : ""));
        }
    }
}
