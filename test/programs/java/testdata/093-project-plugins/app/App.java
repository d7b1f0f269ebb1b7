package app;

import app.spi.Filter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Text filters found by name, chained by arguments, fed by standard input. */
public class App {
    public static void main(String[] args) throws Exception {
        String text = new String(System.in.readAllBytes(), StandardCharsets.UTF_8).stripTrailing();
        Map<String, Filter> known = new LinkedHashMap<>();
        for (String name : new String[] {"Reverse", "Shout", "Number", "Rot13"}) {
            Filter filter = (Filter) Class.forName("app.filters." + name).getDeclaredConstructor().newInstance();
            known.put(filter.name(), filter);
        }
        System.out.println("filters " + known.keySet());
        for (String chain : args) {
            Filter all = Filter.identity();
            for (String name : chain.split("\\+")) {
                if (!known.containsKey(name)) {
                    System.err.println("no filter " + name);
                    System.exit(4);
                }
                all = all.then(known.get(name));
            }
            System.out.println("--- " + all.name() + "\n" + all.apply(text));
        }
    }
}
