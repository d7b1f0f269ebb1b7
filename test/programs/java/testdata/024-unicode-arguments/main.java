import java.nio.charset.StandardCharsets;
import java.util.*;

/** What arrives as arguments, and options read from them. */
public class Arguments {
    public static void main(String[] args) {
        for (int i = 0; i < args.length; i++) {
            System.out.printf("%d [%s] %d %s%n", i, args[i], args[i].codePointCount(0, args[i].length()), HexFormat.of().formatHex(args[i].getBytes(StandardCharsets.UTF_8)));
        }
        Map<String, String> options = new LinkedHashMap<>();
        List<String> rest = new ArrayList<>();
        for (Iterator<String> it = Arrays.asList(args).iterator(); it.hasNext(); ) {
            String arg = it.next();
            if (arg.equals("--")) it.forEachRemaining(rest::add);
            else if (arg.startsWith("--") && arg.contains("=")) options.put(arg.substring(2, arg.indexOf('=')), arg.substring(arg.indexOf('=') + 1));
            else if (arg.startsWith("-") && arg.length() > 1) options.put(arg.replaceFirst("^-+", ""), it.hasNext() ? it.next() : "");
            else rest.add(arg);
        }
        System.out.println(options + " " + rest);
    }
}
