import größe.Einheit;
import größe.Länge;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.LongStream;

/** Packages, classes, methods and files with names beyond ASCII. */
public class Start {
    static long 阶乘(int 数) { return LongStream.rangeClosed(1, 数).reduce(1, (甲, 乙) -> 甲 * 乙); }

    interface Приветствие { String сказать(String имя); }

    public static void main(String[] args) throws IOException {
        var straße = new Länge(5, Einheit.KILOMETER).plus(new Länge(250, Einheit.METER));
        System.out.println(straße + " " + straße.compareTo(new Länge(6, Einheit.KILOMETER)) + " " + Arrays.toString(Einheit.values()));
        System.out.println("阶乘(20) = " + 阶乘(20));
        Приветствие привет = имя -> "Привет, " + имя + " 🦀!";
        System.out.println(привет.сказать("世界"));
        Path datei = Path.of("結果🦀.txt");
        Files.writeString(datei, "héllo 你好 🦀\n");
        System.out.println(Files.readAllLines(datei) + " " + datei.toFile().getName().equals("結果🦀.txt") + " " + datei.toFile().length());
        var zähler = new TreeMap<String, Integer>();
        for (String wort : List.of("über", "äpfel", "über")) zähler.merge(wort, 1, Integer::sum);
        System.out.println(zähler + " " + Länge.class.getName() + " " + Приветствие.class.getSimpleName());
        try {
            Einheit.valueOf("ZÖLL");
        } catch (IllegalArgumentException fehler) {
            System.out.println(fehler.getMessage());
        }
    }
}
