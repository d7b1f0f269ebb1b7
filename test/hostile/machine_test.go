package hostile

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// look is what the machine and the server look like: the invariants of the
// catalogue, as words that can be compared.
func (c *combination) look() map[string]string {
	seen := map[string]string{
		"canary": canaryLooks(),                                                                                                          // I10
		"ipc":    fmt.Sprint(testenv.Lines("/proc/sysvipc/shm"), testenv.Lines("/proc/sysvipc/sem"), testenv.Lines("/proc/sysvipc/msg")), // I13
		// I8: what a server has begun to keep, and what it notes of itself.
		"unfinished": fmt.Sprint(testenv.Entries(c.data()+"/tmp-*"), testenv.Entries(c.data()+"/*/tmp-*"), testenv.Entries(c.data()+"/*/*/tmp-*")),
	}
	if !*ready {
		seen["notes"] = fmt.Sprint(testenv.Entries(c.dir() + "/run"))
	}
	maps.Copy(seen, stamps()) // I11
	if c.warmed["go"] {
		seen["build caches"] = caches(filepath.Join(c.data(), "cache/build"))
	}
	for i, s := range c.servers() {
		if *ready {
			break
		}
		seen[fmt.Sprint("processes of server ", i)] = strings.Join(descendants(s.Cmd.Process.Pid), " ") // I1, I2
	}
	if !*busy && !*ready {
		seen["control groups"] = fmt.Sprint(testenv.Groups())                                                       // I3
		seen["files"] = fmt.Sprint(testenv.Entries("/tmp/sandbox-run-i*/*"), testenv.Entries("/run/sandbox-run/*")) // I8
		if os.Geteuid() == 0 {
			seen["message queues"] = fmt.Sprint(messageQueues()) // I13
			seen["firewall"] = firewall()                        // I5
		}
		seen[room] = fmt.Sprint(roomTaken() >> 20) // I8
		seen["keys"] = fmt.Sprint(testenv.Lines("/proc/keys") + testenv.Lines("/proc/key-users"))
		for name, n := range testenv.Counts() { // I4, I5
			seen[name] = fmt.Sprint(n)
		}
		seen["network interfaces"] = fmt.Sprint(testenv.Entries("/sys/class/net/*")) // I5
	}
	maps.Copy(seen, sysctls()) // I14
	seen["binary formats"] = fmt.Sprint(testenv.Entries("/proc/sys/fs/binfmt_misc"))
	return seen
}

// restless are settings that change by themselves, or by being looked at, and what belongs to a network
// interface that others make.
var restless = regexp.MustCompile(`^/proc/sys/(kernel/(ns_last_pid|random/.*|sched_domain/.*)|vm/(stat_refresh|compact_memory|drop_caches)|fs/binfmt_misc/.*|net/.*/(conf|neigh)/[^/]*/.*|net/ipv[46]/route/flush|net/netfilter/.*)$`)

// sysctls are the settings of the host's kernel.
func sysctls() map[string]string {
	all := map[string]string{}
	_ = filepath.WalkDir("/proc/sys", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || restless.MatchString(path) {
			return nil
		}
		var s unix.Stat_t
		if unix.Stat(path, &s) == nil && s.Mode&0o222 != 0 {
			all["sysctl "+path] = text(path)
		}
		return nil
	})
	return all
}

// clock is how far the host's clock is from the time since it was started, which nobody can set.
func clock() time.Duration {
	var since unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &since); err != nil {
		return 0
	}
	return time.Duration(time.Now().UnixNano() - since.Nano())
}

// room names what is taken of the host's file systems, in MiB.
const room = "MiB of file systems"

// roomTaken is how many bytes the file systems hold that containers are made on, but for what servers
// keep on purpose. A file that is deleted, and held open by somebody, takes room as well.
func roomTaken() (taken int64) {
	counted, kept := map[unix.Fsid]bool{}, map[string]bool{}
	for _, c := range combinations() {
		kept[c.data()] = true
		kept[c.data()+behind] = true
	}
	for _, dir := range append(slices.Sorted(maps.Keys(kept)), "/tmp", "/run", "/dev/shm") {
		var s unix.Statfs_t
		if unix.Statfs(dir, &s) == nil && !counted[s.Fsid] {
			counted[s.Fsid] = true
			taken += int64(s.Blocks-s.Bfree) * s.Frsize
		}
	}
	files := map[uint64]bool{} // by inode: some have two names
	for dir := range kept {
		_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			var s unix.Stat_t
			if err == nil && unix.Lstat(path, &s) == nil && !files[s.Ino] {
				files[s.Ino] = true
				taken -= s.Blocks * 512
			}
			return nil
		})
	}
	return taken
}

// firewall is what the host's kernel lets through, as the tools that are here print it.
func firewall() string {
	var rules strings.Builder
	for _, tool := range [][]string{{"nft", "list", "ruleset"}, {"iptables-save"}, {"ip6tables-save"}} {
		said, err := exec.Command(tool[0], tool[1:]...).CombinedOutput()
		fmt.Fprintln(&rules, tool, err)
		for line := range strings.Lines(string(said)) {
			if !strings.HasPrefix(line, "#") { // the time
				rules.WriteString(passed.ReplaceAllString(line, ""))
			}
		}
	}
	return rules.String()
}

// passed is what a chain has let through until now.
var passed = regexp.MustCompile(`\[\d+:\d+\]|packets \d+ bytes \d+`)

// leftBehind tells what of containers is there although every server has ended, and was not there
// before the first of them.
func leftBehind(before map[string]int) error {
	var more []string
	if !testenv.Within(5*time.Second, func() bool {
		more = nil
		for what, n := range everything() {
			if n > before[what] {
				more = append(more, fmt.Sprintf("%d %s, before %d", n, what, before[what]))
			}
		}
		return len(more) == 0
	}) {
		return fmt.Errorf("left behind: %s", strings.Join(more, "; "))
	}
	return nil
}

// everything counts what servers leave nothing of when they have ended.
func everything() map[string]int {
	all := testenv.Counts()
	all["control groups"], all["inits"], all["directories"] = testenv.Groups(), len(testenv.Processes("sandbox-init")), testenv.Entries("/tmp/sandbox-run-i*/*")
	return all
}

// check waits a moment for what is still going, and fails when the machine does not
// come back to what it was.
func (c *combination) check(t *testing.T) {
	t.Helper()
	var now map[string]string
	var stirred time.Time
	testenv.Within(time.Minute, func() bool {
		before := now
		now = c.look()
		if stirred.IsZero() || now["files"] != before["files"] { // a tree of thousands is being removed
			stirred = time.Now()
		}
		return len(c.changed(now)) == 0 || time.Since(stirred) > 5*time.Second
	})
	if len(c.changed(now)) > 0 {
		for _, what := range c.changed(now) {
			t.Errorf("%s: %q, before %q", what, now[what], c.idle[what])
		}
		c.idle = now // the next row is not to blame
	}
	for what, limit := range spares {
		if *ready {
			limit += manyReady[what]
		}
		if c.runtime == "remote" {
			limit += connected[what]
		}
		first, last := c.gauge(what), 0
		if !testenv.Within(5*time.Second, func() bool { last = c.gauge(what); return last >= 0 && last <= c.gauges[what]+limit }) {
			t.Errorf("%s: %d and then %d, before %d", what, first, last, c.gauges[what])
			c.gauges[what] = last
		}
	}
	if moved := (clock() - c.clock).Abs(); moved > time.Second { // I14
		t.Errorf("the host's clock was moved by %v", moved)
		c.clock = clock()
	}
	for _, line := range kernelLog().BadNews() { // I12
		t.Errorf("the kernel says: %s", line)
	}
}

// spares are by how much figures of a server may be higher than before: descriptors (I6),
// goroutines (I7), and memory (I9), of which Go keeps what it had for large results.
var spares = map[string]int{"process_open_fds": 4, "go_goroutines": 8, "process_resident_memory_bytes": 128 << 20}

// manyReady is what containers take that wait.
var manyReady = map[string]int{"process_open_fds": 400, "go_goroutines": 800}

// connected is what connections to another server take that wait for a next request.
var connected = map[string]int{"process_open_fds": 8, "go_goroutines": 16}

// changed are the things that look otherwise than when the server was idle. Of a count it
// is a change to be higher: others who have had a socket or a namespace may leave.
func (c *combination) changed(now map[string]string) (what []string) {
	spare := map[string]int{"unix sockets": 3, room: 64} // a server's sockets are among its descriptors too; what others write
	if c.runtime == "docker" {
		spare["unix sockets"] = 8 // connections that wait for a next request
	}
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if now[name] == c.idle[name] {
			continue
		}
		n, err := strconv.Atoi(now[name])
		before, err2 := strconv.Atoi(c.idle[name])
		if _, setting := strings.CutPrefix(name, "sysctl "); setting || err != nil || err2 != nil || n > before+spare[name] {
			what = append(what, name)
		}
	}
	return what
}

// gauge reads a figure from the server's metrics, or -1.
func (c *combination) gauge(name string) int {
	figure := c.server.Metric(name)
	if math.IsNaN(figure) {
		return -1
	}
	return int(figure)
}

// descendants are the names of the processes below one, sorted, and which are zombies.
func descendants(pid int) (found []string) {
	for _, p := range testenv.Below(pid) {
		if p.Zombie {
			p.Name += " (zombie)"
		}
		found = append(found, p.Name)
	}
	slices.Sort(found)
	return found
}

// namespaces are those of a process, as the links in /proc name them.
func namespaces(pid int) (found []string) {
	links, _ := filepath.Glob(fmt.Sprintf("/proc/%d/ns/*", pid))
	for _, l := range links {
		if name, err := os.Readlink(l); err == nil {
			found = append(found, name)
		}
	}
	return found
}

func text(name string) string {
	content, err := os.ReadFile(name)
	if err != nil {
		return "unreadable"
	}
	return strings.TrimSpace(string(content))
}

func canaryLooks() string {
	path, err := canary()
	if err != nil {
		return err.Error()
	}
	info, err := os.Lstat(path)
	if err != nil {
		return err.Error()
	}
	owner := info.Sys().(*syscall.Stat_t)
	return fmt.Sprint(text(path), info.Mode(), owner.Uid, owner.Gid, owner.Nlink, info.ModTime())
}

// kernelLog is what the kernel says; only root may read it.
var kernelLog = sync.OnceValue(func() *testenv.KernelLog {
	log, _ := testenv.ListenToKernel()
	return log
})

// programs are those of the host that sandboxes can read, and the server's own: by what
// the server finds for each language, which no shim is.
var programs = sync.OnceValue(func() []string {
	found := []string{binary, "/bin/sh"}
	home, _ := os.UserHomeDir()
	for _, path := range []string{os.Getenv("PATH"), *plainPath} {
		host := language.Host{Path: filepath.SplitList(path), Home: home, Want: new(string), Getenv: os.Getenv}
		for _, l := range language.All() {
			tools, _ := l.Find(context.Background(), host)
			for _, tool := range tools {
				found = append(found, tool.Program, tool.Compiler)
			}
		}
	}
	// What they consist of: libraries, compilers, and what is compiled into programs.
	for _, pattern := range []string{"/lib/*-linux-gnu/lib[cm].so.6", "/lib/*-linux-gnu/ld-linux*", "/lib/*-linux-gnu/libstdc++.so.6", "/usr/lib/python3*/os.py", "/usr/lib/gcc/*/*/cc1*",
		"/usr/lib/jvm/*/lib/modules", "/usr/lib/jvm/*/lib/server/libjvm.so", "/usr/local/go/pkg/tool/*/compile", "/usr/local/go/src/runtime/proc.go", home + "/.rustup/toolchains/*/lib/librustc_driver*"} {
		files, _ := filepath.Glob(pattern) // a good one
		found = append(found, files...)
	}
	found = slices.DeleteFunc(found, func(name string) bool { return name == "" })
	for i, name := range found {
		if real, err := filepath.EvalSymlinks(name); err == nil {
			found[i] = real
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
})

// stamps are what the file system knows of the programs.
func stamps() map[string]string {
	all := map[string]string{}
	for _, name := range programs() {
		var s unix.Stat_t
		err := unix.Stat(name, &s)
		all["the program "+name] = fmt.Sprint(err, s.Dev, s.Ino, s.Size, s.Mode, s.Mtim, s.Ctim)
	}
	return all
}

// caches sums up sizes, modes and times of the files below a directory: a compiler makes
// anew, in silence, what it does not find whole.
func caches(dir string) string {
	files, sum := 0, uint64(0)
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		var s unix.Stat_t
		if err == nil && d.Type().IsRegular() && unix.Lstat(path, &s) == nil {
			files, sum = files+1, sum+uint64(s.Size)+uint64(s.Mode)<<32+uint64(s.Mtim.Nano()) // links of it come and go: no ctime
		}
		return nil
	})
	return fmt.Sprint(files, " files, sum ", sum)
}

// hashes are those of the programs, as the host sees them: through the page cache, where
// a hole of the Dirty Pipe family writes, of which the file system knows nothing.
func hashes(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, name := range programs() {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = fmt.Sprintf("%x", sha256.Sum256(content))
	}
	return all
}

// messageQueues counts those of POSIX in our own namespace, or is -1 for who may not look.
func messageQueues() int {
	fs, err := unix.Fsopen("mqueue", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1
	}
	mount, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, 0)
	if err != nil {
		return -1
	}
	defer unix.Close(mount)
	names, err := os.ReadDir(fmt.Sprintf("/proc/self/fd/%d", mount))
	if err != nil {
		return -1
	}
	return len(names)
}
