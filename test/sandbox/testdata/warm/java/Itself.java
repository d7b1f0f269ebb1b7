// with: {"stdin": "one\ntwo\n"}
// with: {"args": ["a b", "", "ü"]}
// with: {"env": {"FOO": "bar=baz"}}
// with: {"files": {"data.txt": "a resource"}}
import java.io.*;
import java.nio.file.*;
import java.util.*;
import java.util.stream.*;

public class Main {
    static final String early = "early";

    public static void main(String[] args) throws Exception {
        System.out.println(Arrays.toString(args) + System.getenv().entrySet().stream().sorted(Map.Entry.comparingByKey()).collect(Collectors.toList()));
        Properties properties = System.getProperties();
        for (String name : new TreeSet<>(properties.stringPropertyNames())) System.out.println(name + "=" + properties.getProperty(name));
        System.out.println(Thread.getAllStackTraces().keySet().stream().map(Thread::getName).sorted().collect(Collectors.toList()));
        System.out.println(Arrays.toString(Thread.currentThread().getStackTrace()) + Thread.currentThread().getContextClassLoader().getClass());
        System.out.println(ModuleLayer.boot().modules().stream().map(Module::getName).sorted().collect(Collectors.toList()));
        System.out.println(Main.class.getClassLoader().getClass() + " " + Main.class.getResource("Main.class") + " " + Main.class.getResource("/data.txt") + " " + Main.class.getModule().isNamed());
        System.out.println(Runtime.getRuntime().availableProcessors() + " " + Runtime.getRuntime().maxMemory() + " " + Runtime.version() + " " + java.nio.charset.Charset.defaultCharset());
        try (Stream<Path> all = Files.list(Path.of(".")).sorted()) { System.out.println(all.collect(Collectors.toList())); }
        try (Stream<Path> all = Files.list(Path.of("/tmp")).sorted()) { System.out.println(all.collect(Collectors.toList())); }
        try (Stream<Path> all = Files.walk(Path.of("/build")).sorted()) { System.out.println(all.collect(Collectors.toList())); }
        try { Files.writeString(Path.of("/build/x"), ""); } catch (IOException e) { System.out.println(e); }
        System.out.println(System.in.available() + " " + new String(System.in.readAllBytes()) + "|" + System.console());
        System.out.println(ProcessHandle.current().parent() + " " + ProcessHandle.current().children().count());
    }
}
