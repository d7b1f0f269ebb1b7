package faults

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

const groupRoot = "/sys/fs/cgroup"

// unified tells whether this host has control groups of version 2 alone.
func unified() bool {
	_, err := os.Stat(groupRoot + "/cgroup.controllers")
	return err == nil
}

// ownGroup makes a control group with the controller that the test is about, for the server and
// what runs below it, and gives the line of a shell that enters it. No other group is changed.
func ownGroup(t *testing.T, controller string) (dir, enter string) {
	t.Helper()
	needRoot(t)
	name := fmt.Sprintf("faults-%d", os.Getpid())
	dir = filepath.Join(groupRoot, name) // whose root may hold processes, and hand controllers down
	if !unified() {
		dir = filepath.Join(groupRoot, controller, membership(controller), name)
	}
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Skipf("needs a %s control group: %v", controller, err)
	}
	t.Cleanup(func() {
		if !testenv.Within(10*time.Second, func() bool { return removed(dir) }) {
			t.Errorf("%s is still in use", dir)
		}
	})
	if unified() {
		offers, _ := os.ReadFile(filepath.Join(dir, "cgroup.controllers"))
		if !slices.Contains(strings.Fields(string(offers)), controller) {
			t.Skipf("needs the controller %s, and %s hands down %q", controller, groupRoot, offers)
		}
		// As systemd marks a group that is the service's: else root's server makes its groups at the root.
		if err := syscall.Setxattr(dir, "trusted.delegate", []byte("1"), 0); err != nil {
			t.Skipf("needs to give a group away: %v", err)
		}
	}
	return dir, "echo 0 > " + dir + "/cgroup.procs"
}

// membership is the group of version 1 that we are in.
func membership(controller string) string {
	list, _ := os.ReadFile("/proc/self/cgroup")
	for _, line := range strings.Split(string(list), "\n") {
		if fields := strings.SplitN(line, ":", 3); len(fields) == 3 && fields[1] == controller {
			return fields[2]
		}
	}
	return ""
}

// removed removes a group of ours in which a server has left nothing: but on version 2 the
// group that it has stepped aside into, since it cannot remove what it is in.
func removed(dir string) bool {
	_ = syscall.Rmdir(filepath.Join(dir, "sandbox-run.self"))
	return syscall.Rmdir(dir) == nil
}

// set writes FILE=VALUE.
func set(t *testing.T, dir, value string) {
	t.Helper()
	file, v, _ := strings.Cut(value, "=")
	if err := os.WriteFile(filepath.Join(dir, file), []byte(v), 0); err != nil {
		t.Fatal(err)
	}
}
