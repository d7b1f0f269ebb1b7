import java.util.*;
import java.util.stream.*;

/** A text adventure played by the commands on standard input. */
public class Adventure {
    enum Way { NORTH, SOUTH, EAST, WEST; Way back() { return values()[ordinal() ^ 1]; } }

    static final class Room {
        final String name;
        final Map<Way, Room> exits = new EnumMap<>(Way.class);
        final Set<String> things = new TreeSet<>();
        Room(String name, String... things) {
            this.name = name;
            this.things.addAll(List.of(things));
        }
        void link(Way way, Room other) {
            exits.put(way, other);
            other.exits.put(way.back(), this);
        }
        @Override public String toString() { return name + " exits " + exits.keySet() + " things " + things; }
    }

    private Room here;
    private final Room goal;
    private final Set<String> bag = new TreeSet<>();
    private int moves;

    Adventure() {
        Room hall = new Room("Halle"), kitchen = new Room("Küche", "apple 🍎", "knife"), cellar = new Room("Keller", "key 🔑"), tower = new Room("塔");
        hall.link(Way.NORTH, kitchen);
        kitchen.link(Way.EAST, cellar);
        hall.link(Way.WEST, tower);
        here = hall;
        goal = tower;
    }

    String command(String line) {
        moves++;
        String[] words = line.strip().split("\\s+", 2);
        String object = words.length > 1 ? words[1] : "";
        return switch (words[0]) {
            case "look" -> here.toString();
            case "go" -> {
                Optional<Way> way = Arrays.stream(Way.values()).filter(w -> w.name().equalsIgnoreCase(object)).findFirst();
                Room next = way.map(here.exits::get).orElse(null);
                if (next == null) yield "no way " + object;
                if (next == goal && bag.stream().noneMatch(t -> t.startsWith("key"))) yield "the tower is locked";
                here = next;
                yield "you are in " + here.name + (here == goal ? " – you won after " + moves + " moves" : "");
            }
            case "take" -> move(object, here.things, bag) ? "taken " + object : "there is no " + object;
            case "drop" -> move(object, bag, here.things) ? "dropped " + object : "you have no " + object;
            case "bag" -> bag.stream().collect(Collectors.joining(", ", "you carry ", "")).replaceFirst("carry $", "carry nothing");
            default -> "what is “" + words[0] + "”?";
        };
    }

    private static boolean move(String prefix, Set<String> from, Set<String> to) {
        Optional<String> thing = from.stream().filter(t -> !prefix.isEmpty() && t.startsWith(prefix)).findFirst();
        thing.ifPresent(t -> {
            from.remove(t);
            to.add(t);
        });
        return thing.isPresent();
    }

    public static void main(String[] args) {
        var game = new Adventure();
        var in = new Scanner(System.in, "UTF-8");
        while (in.hasNextLine() && game.here != game.goal) {
            String line = in.nextLine();
            System.out.println("> " + line + "\n" + game.command(line));
        }
    }
}
