package guest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// way is a [Connection] that notes what happens to it, and which programs are alive
// when it settles.
type way struct {
	done  []string
	alive func() string
}

func (w *way) Settle() {
	w.done = append(w.done, fmt.Sprintf("settle, alive: %q", w.alive()))
}

func (w *way) End(exit *sandbox.Exit) {
	w.done = append(w.done, "end")
	exit.Network.Connections = 7
	exit.Violations = append(exit.Violations, "refused")
}

func (w *way) Abandon() { w.done = append(w.done, "abandon") }

// TestConnection: each process has a way out of its own, from before it starts until
// nothing of it runs any more.
func TestConnection(t *testing.T) {
	var ways []*way
	var asked []*sandbox.NetworkPolicy
	refused := errors.New("wider than the container's")
	var w *world
	w = start(t, func(o *Options) {
		o.Network.Mode = sandbox.NetworkFull
		o.Connect = func(_ context.Context, own *sandbox.NetworkPolicy) (Connection, error) {
			asked = append(asked, own)
			if own != nil && own.Mode == sandbox.NetworkAllowlist {
				return nil, refused
			}
			ways = append(ways, &way{alive: w.children})
			return ways[len(ways)-1], nil
		}
	})
	last := func() []string { return ways[len(ways)-1].done }
	exit := w.sh("sleep 1000 & exit 3")
	if exit.Code != 3 || exit.Network.Connections != 7 || !slices.Equal(exit.Violations, []string{"refused"}) || !slices.Equal(last(), []string{"settle, alive: \"\"", "end"}) {
		t.Errorf("%+v, %q", exit, last())
	}
	if _, err := w.Start(t.Context(), sandbox.Process{Args: []string{"/no/such"}}); err == nil || !slices.Equal(last(), []string{"abandon"}) {
		t.Errorf("%v, %q", err, last())
	}
	p := shell("true")
	p.Network = &sandbox.NetworkPolicy{Allow: []string{"example.org"}}
	if _, err := w.Start(t.Context(), p); !errors.Is(err, refused) || len(ways) != 2 {
		t.Errorf("%v, %d ways", err, len(ways))
	}
	p.Network = &sandbox.NetworkPolicy{}
	w.run(p)
	if len(asked) != 4 || asked[0] != nil || asked[2].Mode != sandbox.NetworkAllowlist || asked[3].Mode != sandbox.NetworkNone {
		t.Errorf("asked for %+v", asked)
	}
	running := w.start(shell("sleep 1000"))
	must(t, w.Delete(t.Context()))
	if exit, err := running.Wait(); err != nil || exit.Network.Connections != 7 || !slices.Contains(last(), "end") {
		t.Errorf("%+v, %v, %q", exit, err, last())
	}
}

// children are those of init, by their numbers on the host.
func (w *world) children() string {
	name := fmt.Sprintf("/proc/%[1]d/task/%[1]d/children", w.init.Process.Pid)
	list, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ESRCH) { // init has been reaped
		w.t.Error(err)
	}
	return string(list)
}
