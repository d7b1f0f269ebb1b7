import java.util.*;

/** Settings from the environment, with types, defaults and complaints. */
public class Environment {
    record Settings(String name, int port, boolean debug, List<String> tags) {
        static Settings from(Map<String, String> env) {
            int port = Integer.parseInt(env.getOrDefault("APP_PORT", "80"));
            if (port < 1 || port > 65535) throw new IllegalArgumentException("port " + port);
            return new Settings(env.getOrDefault("APP_NAME", "app"), port, Boolean.parseBoolean(env.get("APP_DEBUG")), List.of(env.getOrDefault("APP_TAGS", "").split(",", -1)));
        }
    }

    public static void main(String[] args) {
        System.out.println(Settings.from(System.getenv()));
        System.out.println(Settings.from(new HashMap<>()));
        for (String port : List.of("eighty", "70000")) {
            try {
                Settings.from(new HashMap<>(Collections.singletonMap("APP_PORT", port)));
            } catch (IllegalArgumentException e) {
                System.out.println(e.getClass().getSimpleName());
            }
        }
        System.out.println("[" + System.getenv("APP_EMPTY") + "] " + System.getenv("APP_ABSENT") + " " + System.getenv("TZ") + " " + System.getenv("LANG") + " " + System.getenv("USER"));
        System.out.println(TimeZone.getDefault().getID() + " " + System.getProperty("file.separator") + " " + System.getenv("HOME").equals(System.getProperty("user.dir")));
        try {
            System.getenv().put("X", "1");
        } catch (UnsupportedOperationException e) {
            System.out.println("read-only");
        }
        System.out.println(new TreeMap<>(System.getenv()).tailMap("APP").headMap("APQ"));
    }
}
