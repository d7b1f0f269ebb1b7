package hostile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
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
		"canary": canaryLooks(),                                                                                                          // I10
		"ipc":    fmt.Sprint(testenv.Lines("/proc/sysvipc/shm"), testenv.Lines("/proc/sysvipc/sem"), testenv.Lines("/proc/sysvipc/msg")), // I13
	}
	for i, s := range c.servers() {
		seen[fmt.Sprint("processes of server ", i)] = strings.Join(descendants(s.Cmd.Process.Pid), " ") // I1, I2
	}
	if !*busy {
		seen["control groups"] = fmt.Sprint(testenv.Groups())                                                       // I3
		seen["files"] = fmt.Sprint(testenv.Entries("/tmp/sandbox-run-i*/*"), testenv.Entries("/run/sandbox-run/*")) // I8
		for name, n := range testenv.Counts() {                                                                     // I4, I5
			seen[name] = fmt.Sprint(n)
		}
	}
	for _, name := range []string{"hostname", "domainname", "core_pattern", "modprobe", "sysrq", "pid_max", "cap_last_cap"} { // I14
		seen["sysctl "+name] = text("/proc/sys/kernel/" + name)
	}
	seen["binary formats"] = fmt.Sprint(testenv.Entries("/proc/sys/fs/binfmt_misc"))
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
	for _, line := range kernelLog().BadNews() { // I12
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
