package spawn_test

import (
	"os"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
)

// A server has as many children at a time as it has containers. The end of each
// is told, though they end all at once.
func TestManyChildrenAtATime(t *testing.T) {
	const children = 200
	s := start(t)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var pids []int
	for range children {
		var p spawn.Program
		run(&p, r, "/bin/sh", "-c", "read x <&1; exit 7") // until the pipe is closed
		reply, err := s.Do(&p)
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, reply.PID)
	}
	w.Close()
	ended := make(chan int, children)
	for _, pid := range pids {
		go func() {
			exit, err := s.Wait(pid)
			if err != nil {
				t.Error(err)
			}
			ended <- exit.Status.ExitStatus()
		}()
	}
	for i := range children {
		select {
		case code := <-ended:
			if code != 7 {
				t.Errorf("exit code %d", code)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("the end of %d of %d children was told", i, children)
		}
	}
}
