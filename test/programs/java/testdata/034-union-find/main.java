import java.util.*;
import java.util.stream.*;

/** Disjoint sets: spanning tree, islands, consistency of equations. */
class UnionFind {
    private final int[] parent, size;
    int groups;

    UnionFind(int n) {
        parent = IntStream.range(0, n).toArray();
        size = new int[n];
        Arrays.fill(size, 1);
        groups = n;
    }

    int find(int x) {
        while (parent[x] != x) x = parent[x] = parent[parent[x]];
        return x;
    }

    boolean union(int a, int b) {
        a = find(a);
        b = find(b);
        if (a == b) return false;
        if (size[a] < size[b]) {
            int t = a;
            a = b;
            b = t;
        }
        parent[b] = a;
        size[a] += size[b];
        groups--;
        return true;
    }

    record Edge(char a, char b, int weight) {}

    public static void main(String[] args) {
        var edges = Stream.of("AB7", "AD5", "BC8", "BD9", "BE7", "CE5", "DE15", "DF6", "EF8", "EG9", "FG11")
            .map(s -> new Edge(s.charAt(0), s.charAt(1), Integer.parseInt(s.substring(2)))).sorted(Comparator.comparingInt(Edge::weight)).toList();
        var sets = new UnionFind(7);
        var tree = edges.stream().filter(e -> sets.union(e.a() - 'A', e.b() - 'A')).toList();
        System.out.println(tree.stream().map(e -> "" + e.a() + e.b()).collect(Collectors.joining(" ")) + " weight " + tree.stream().mapToInt(Edge::weight).sum());
        String[] map = {"##..#", "#..##", "..#..", "##.##"};
        var islands = new UnionFind(20);
        int water = 0;
        for (int i = 0; i < 20; i++) {
            if (map[i / 5].charAt(i % 5) == '.') water++;
            else {
                if (i % 5 < 4 && map[i / 5].charAt(i % 5 + 1) == '#') islands.union(i, i + 1);
                if (i < 15 && map[i / 5 + 1].charAt(i % 5) == '#') islands.union(i, i + 5);
            }
        }
        System.out.println("islands: " + (islands.groups - water));
        for (String system : List.of("a=b b=c c!d", "a=b b!c c=a", "x!x", "p=q r=s p!s")) {
            var letters = new UnionFind(26);
            String[] parts = system.split(" ");
            for (String e : parts) if (e.charAt(1) == '=') letters.union(e.charAt(0) - 'a', e.charAt(2) - 'a');
            boolean holds = Arrays.stream(parts).allMatch(e -> e.charAt(1) == '=' || letters.find(e.charAt(0) - 'a') != letters.find(e.charAt(2) - 'a'));
            System.out.println(system + " → " + (holds ? "consistent" : "contradiction"));
        }
    }
}
