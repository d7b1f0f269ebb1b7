package hostile

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
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

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// look is what the machine and the server look like: the invariants of the
// catalogue, as words that can be compared. Descriptors and goroutines may differ
// by a few, and memory is for the table alone.
func (c *combination) look() map[string]string {
	seen := map[string]string{
		"canary": canaryLooks(),                                                                                     // I10
		"ipc":    fmt.Sprint(rowsOf("/proc/sysvipc/shm"), rowsOf("/proc/sysvipc/sem"), rowsOf("/proc/sysvipc/msg")), // I13
	}
	for i, s := range c.servers() {
		seen[fmt.Sprint("processes of server ", i)] = strings.Join(descendants(s.Cmd.Process.Pid), " ") // I1, I2
	}
	if !*busy {
		seen["control groups"] = fmt.Sprint(directories("/sys/fs/cgroup", "sandbox-run"))           // I3
		seen["files"] = fmt.Sprint(entries("/tmp/sandbox-run-i*/*"), entries("/run/sandbox-run/*")) // I8
		for name, n := range testenv.Counts() {                                                     // I4, I5
			seen[name] = fmt.Sprint(n)
		}
	}
	for _, name := range []string{"hostname", "domainname", "core_pattern", "modprobe", "sysrq", "pid_max", "cap_last_cap"} { // I14
		seen["sysctl "+name] = text("/proc/sys/kernel/" + name)
	}
	seen["binary formats"] = fmt.Sprint(entries("/proc/sys/fs/binfmt_misc"))
	return seen
}

// check waits a moment for what is still going, and fails when the machine does not
// come back to what it was.
func (c *combination) check(t *testing.T) {
	t.Helper()
	var now map[string]string
	if !testenv.Within(5*time.Second, func() bool { now = c.look(); return len(c.changed(now)) == 0 }) {
		for _, what := range c.changed(now) {
			t.Errorf("%s: %q, before %q", what, now[what], c.idle[what])
		}
		c.idle = now // the next row is not to blame
	}
	for what, limit := range map[string]int{"process_open_fds": 4, "go_goroutines": 8} { // I6, I7
		first, last := c.gauge(what), 0
		if !testenv.Within(5*time.Second, func() bool { last = c.gauge(what); return last <= c.gauges[what]+limit }) {
			t.Errorf("%s: %d and then %d, before %d", what, first, last, c.gauges[what])
			c.gauges[what] = last
		}
	}
	for _, line := range kernelLog() { // I12
		t.Errorf("the kernel says: %s", line)
	}
}

// changed are the things that look otherwise than when the server was idle. Of a count it
// is a change to be higher: others who have had a socket or a namespace may leave.
func (c *combination) changed(now map[string]string) (what []string) {
	spare := map[string]int{"unix sockets": 3} // of daemons that talk to each other
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

var gaugeLine = regexp.MustCompile(`(?m)^(process_open_fds|go_goroutines|process_resident_memory_bytes) ([0-9.e+]+)$`)

// gauge reads a figure from the server's metrics.
func (c *combination) gauge(name string) int {
	resp, err := http.Get(c.server.URL + "/metrics")
	if err != nil {
		return -1
	}
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if m := gaugeLine.FindStringSubmatch(lines.Text()); m != nil && m[1] == name {
			var figure float64
			_, _ = fmt.Sscan(m[2], &figure)
			return int(figure)
		}
	}
	return -1
}

// descendants are the names and states of the processes below one, sorted.
func descendants(pid int) (found []string) {
	var pids []string
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		pids = append(pids, strings.Fields(text(task))...)
	}
	for _, child := range pids {
		_, rest, _ := strings.Cut(text("/proc/"+child+"/stat"), " ")
		name, rest, _ := strings.Cut(rest, ") ")
		state := rest[:min(1, len(rest))]
		if state != "Z" {
			state = "" // asleep or running: alive
		}
		found = append(found, name+")"+state)
		if n, err := strconv.Atoi(child); err == nil {
			found = append(found, descendants(n)...)
		}
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

// directories counts those below a root that are below one of this name.
func directories(root, below string) (n int) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.Contains(path, "/"+below) {
			n++
		}
		return nil
	})
	return n
}

// entries counts the files and directories below what a pattern matches.
func entries(pattern string) (n int) {
	paths, _ := filepath.Glob(pattern)
	for _, p := range paths {
		_ = filepath.WalkDir(p, func(string, fs.DirEntry, error) error { n++; return nil })
	}
	return n
}

func text(name string) string {
	content, err := os.ReadFile(name)
	if err != nil {
		return "unreadable"
	}
	return strings.TrimSpace(string(content))
}

func rowsOf(name string) int { return strings.Count(text(name), "\n") }

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

// badNews are lines of the kernel's log that a program must not be able to cause: of
// faults of its own, and of memory that the whole machine ran out of.
var badNews = regexp.MustCompile(`(?i)\bBUG:|\bOops|hung task|blocked for more than|general protection fault in|CONSTRAINT_NONE|page allocation failure|soft lockup|rcu.*stall`)

var kernelLogFile = sync.OnceValues(func() (fd int, err error) {
	if fd, err = syscall.Open("/dev/kmsg", syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0); err != nil {
		return 0, err
	}
	_, err = syscall.Seek(fd, 0, io.SeekEnd) // behind what was said before us
	return fd, err
})

// kernelLog are the bad news since the last call; only root may read them.
func kernelLog() (found []string) {
	log, err := kernelLogFile()
	if err != nil {
		return nil
	}
	record := make([]byte, 8<<10)
	for {
		n, err := syscall.Read(log, record)
		switch {
		case err == syscall.EPIPE: // overwritten before we came
			continue
		case err != nil || n <= 0:
			return found
		}
		if badNews.Match(record[:n]) {
			found = append(found, strings.TrimSpace(string(record[:n])))
		}
	}
}

// toolchains are the hashes of programs that every sandbox can read, as the host sees
// them: through the page cache, where a hole of the Dirty Pipe family writes.
func toolchains() map[string]string {
	hashes := map[string]string{}
	for _, name := range []string{"sh", "bash", "python3", "node", "go", "rustc", "java"} {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		if path, err = filepath.EvalSymlinks(path); err != nil {
			continue
		}
		content, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(content)
		hashes[path] = hex.EncodeToString(sum[:])
	}
	return hashes
}
