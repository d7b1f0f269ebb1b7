package language

import (
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const mib = 1 << 20

// jvmFlags tells a virtual machine its limits, since it sees the memory and the
// processors of the host, and makes text UTF-8 (before JDK 18 the default
// depends on the locale; the standard streams' encodings always do). A zero
// limit is not told.
func jvmFlags(memoryBytes int64, cpus float64) []string {
	processors := wholeCPUs(cpus)
	flags := []string{
		"-XX:ActiveProcessorCount=" + strconv.Itoa(processors),
		"-XX:-UsePerfData", // a file in /tmp for monitoring from outside
		"-XX:ErrorFile=" + sandbox.TempDir + "/hs_err_pid%p.log",
		"-Djava.io.tmpdir=" + sandbox.TempDir, // where it has another name, the JVM does not know
		"-Dfile.encoding=UTF-8",
		"-Dstdout.encoding=UTF-8",
		"-Dstderr.encoding=UTF-8",
	}
	if processors == 1 || memoryBytes < serverMemory {
		flags = append(flags, "-XX:+UseSerialGC")
	}
	if memoryBytes > 0 {
		heap := heapBytes(memoryBytes)
		flags = append(flags,
			"-Xms"+strconv.FormatInt(heap/4/mib, 10)+"m",
			"-Xmx"+strconv.FormatInt(heap/mib, 10)+"m")
	}
	return flags
}

// jvmWords has a virtual machine say on standard error what it says itself: that it cannot start,
// that it warns, how it dies. Standard output is the program's.
var jvmWords = []string{"-XX:+DisplayVMOutputToStderr", "-Xlog:disable", "-Xlog:all=warning:stderr"}

// serverMemory is where HotSpot itself turns from the serial collector to G1
// (is_server_class_machine), by the memory that it believes to have.
const serverMemory = 1792 * mib

// heapBytes is the largest heap under a memory limit. What the JVM needs beside
// the heap is 40–60 MiB for a small program (its own code and data, metaspace,
// compiled code) and grows with it (thread stacks, the collector's tables,
// buffers outside of the heap): 64 MiB and an eighth. Of 512 MiB, 384 are left.
// Small limits give a quarter, at least 8 MiB, with which a JVM just starts; its
// first part is a quarter of the heap, on every host.
func heapBytes(memoryBytes int64) int64 {
	return max(memoryBytes-64*mib-memoryBytes/8, memoryBytes/4, 8*mib)
}

// maxJDKFiles bounds the walk through a JDK, which has some 500 files.
const maxJDKFiles = 20_000

// linkedMounts lists what a JDK links to outside of itself and of the system's
// directories: Debian keeps the configuration in /etc/java-17-openjdk, and the
// certificates in /etc/ssl/certs/java.
func linkedMounts(home string) []sandbox.Mount {
	roots := make(map[string]string) // the first two names of the path → what to mount
	for _, target := range linkTargets(home) {
		names := strings.SplitN(target, "/", 4)
		if isSystemDir(target) || target == home || strings.HasPrefix(target, home+"/") || len(names) < 4 {
			continue
		}
		group := strings.Join(names[:3], "/")
		if root, ok := roots[group]; ok {
			target = commonDir(root, target)
		}
		roots[group] = target
	}
	var mounts []sandbox.Mount
	for _, group := range slices.Sorted(maps.Keys(roots)) {
		mounts = append(mounts, sandbox.Mount{Source: roots[group], Optional: true})
	}
	return mounts
}

// linkTargets resolves the symbolic links among the configuration and the
// libraries of a JDK. What else it links to are documents.
func linkTargets(home string) []string {
	var targets []string
	files := 0
	visit := func(path string, entry fs.DirEntry, err error) error {
		if files++; files > maxJDKFiles {
			return filepath.SkipAll
		}
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			if target, err := filepath.EvalSymlinks(path); err == nil {
				targets = append(targets, target)
			}
		}
		return nil // what cannot be read has no links that matter
	}
	for _, dir := range []string{"conf", "lib"} {
		_ = filepath.WalkDir(filepath.Join(home, dir), visit)
	}
	return targets
}

// commonDir is the deepest directory that holds both paths, or the path itself
// when they are the same.
func commonDir(a, b string) string {
	for a != b && !strings.HasPrefix(b, a+"/") {
		a = filepath.Dir(a)
	}
	return a
}
