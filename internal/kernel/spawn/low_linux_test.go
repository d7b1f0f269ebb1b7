package spawn_test

import (
	"fmt"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// lowHelper makes a re-executed test start an init while descriptor 3 is free.
const lowHelper = "SPAWN_TEST_LOW"

func init() {
	if os.Getenv(lowHelper) == "" {
		return
	}
	if what, _ := os.Readlink("/proc/self/fd/3"); what == "anon_inode:[eventpoll]" {
		fmt.Println("descriptor 3 is the Go runtime's own")
		os.Exit(2)
	}
	_ = unix.Close(3) // inherited, or free already
	s, err := spawn.Start()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s.Close()
	os.Exit(0)
}

// The copy of the init may get the very descriptor that the control socket has in
// the child.
func TestStartWithLowDescriptorsFree(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), lowHelper+"=1")
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState.ExitCode() == 2 {
		t.Skipf("%s", out)
	}
	if err != nil {
		t.Errorf("%v: %s", err, out)
	}
}
