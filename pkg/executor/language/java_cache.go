package language

import (
	"fmt"
	"hash/fnv"
	"maps"
	"runtime"
	"slices"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// javacCacheDir holds javac's own classes, parsed and verified, as an archive
// that its JVM maps into memory (JEP 350). It saves 150 ms of the 450 that a
// small source takes.
const (
	javacCacheDir = "/cache/javac"
	javacArchive  = "javac.jsa"
	oldestArchive = 13 // the release that can write such archives
)

// javacWarmUp makes javac load what ordinary sources need. Its package is part
// of no program, and it is written to the workspace of the preparation alone.
const javacWarmUp = `package warmup;

import java.util.*;
import java.util.function.*;
import java.util.stream.*;

public class WarmUp {
    interface Shape { double area(); }
    record Circle(double radius) implements Shape {
        public double area() { return Math.PI * radius * radius; }
    }
    enum Color { RED, GREEN { @Override String title() { return "green"; } }; String title() { return "red"; } }
    static <T extends Comparable<T>> T largest(List<? extends T> all) {
        T best = null;
        for (T one : all) if (best == null || one.compareTo(best) > 0) best = one;
        return best;
    }
    static class Failure extends Exception { Failure(String message, Throwable cause) { super(message, cause); } }
    static int parse(String text) throws Failure {
        try (var scanner = new Scanner(text)) {
            return scanner.nextInt();
        } catch (IllegalStateException | NoSuchElementException e) {
            throw new Failure("not a number: " + text, e);
        } finally {
            synchronized (WarmUp.class) { count++; }
        }
    }
    private static int count;
    public static void main(String... args) throws Exception {
        Map<String, List<Integer>> groups = new TreeMap<>();
        int[][] grid = {{1, 2}, {3, 4}};
        for (int[] row : grid) for (int x : row) groups.computeIfAbsent(x % 2 == 0 ? "even" : "odd", k -> new ArrayList<>()).add(x);
        String text = groups.entrySet().stream().map(e -> e.getKey() + '=' + e.getValue()).collect(Collectors.joining(", "));
        Supplier<Shape> shape = () -> new Circle(2.5);
        Function<Object, String> format = String::valueOf;
        Object o = shape.get();
        if (o instanceof Circle c && c.radius() > 1) System.out.printf("%s %s%n", text, format.apply(c.area()));
        String kind = switch (Color.valueOf("RED")) { case RED -> "r"; case GREEN -> { String s = "g"; yield s; } };
        Runnable task = new Runnable() { public void run() { System.out.println(kind); } };
        new Thread(task).start();
        label:
        do { switch (args.length) { case 0: break label; default: count += args.length; } } while (count < 10);
        System.out.println(largest(Arrays.asList(3, 1L > 0 ? 2 : 1)) + parse("7") + (char) (byte) ~count);
    }
}
`

// javacPrepare makes the archive, and of what waits a file of classes that a virtual machine
// takes as its agent.
const javacPrepare = `set -e
javac=$1 prepared=$2 build=$3
shift 3
"$javac" "$@" "-J-XX:ArchiveClassesAtExit=$prepared/` + javacArchive + `" -proc:none -d "$build/warmup" ` + javacPractice + `
"$javac" "$@" -proc:none -d "$build/ahead" Work.java Ahead.java Compiler.java
echo 'Premain-Class: sandbox_run.Ahead' >"$build/manifest"
"${javac%javac}jar" --create --file "$prepared/` + javaAheadJar + `" --manifest "$build/manifest" -C "$build/ahead" .
cp ` + javacPractice + ` "$prepared/"
`

// javacCache is the archive for a JDK, or nothing for one that cannot make it.
func javacCache(tc Toolchain) []BuildCache {
	if javaMajor(tc.Version) < oldestArchive {
		return nil
	}
	args := slices.Concat([]string{"/bin/sh", "-c", javacPrepare, "prepare", tc.Compiler, PreparedDir, sandbox.BuildDir}, javacTuning())
	prepare := Step{Args: args}
	files := javaAheadFiles()
	files[javacPractice] = []byte(javacWarmUp)
	h := fnv.New64a()
	fmt.Fprintf(h, "%q", prepare.Args)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "%q %q", name, files[name])
	}
	return []BuildCache{{
		Key:     fmt.Sprintf("javac-%s-%s-%016x", tc.Version, runtime.GOARCH, h.Sum64()),
		Target:  javacCacheDir,
		Prepare: prepare,
		Files:   files,
		Title:   "the Java compiler",
	}}
}

// javacTuning makes javac's JVM start fast: with the first compiler tier and
// the simplest collector a small source compiles in half the time, because
// nothing runs for long enough to be worth more.
func javacTuning() []string {
	return []string{"-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"}
}

// javacArchiveFlags make javac use the archive. One that does not fit is passed
// over without a word.
func javacArchiveFlags(tc Toolchain) []string {
	if javaMajor(tc.Version) < oldestArchive {
		return nil
	}
	return []string{"-J-XX:SharedArchiveFile=" + javacCacheDir + "/" + javacArchive, "-J-Xlog:cds=off", "-J-Xlog:cds+dynamic=off"}
}
