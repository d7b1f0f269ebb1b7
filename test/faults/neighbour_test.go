package faults

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// neighbour is a run that is at work while another one fails, and must not notice. Only calls
// for containers are made to fail beside one: of the server's own calls any may be its.
type neighbour struct {
	server *server
	ended  chan answer
	leave  context.CancelFunc
}

// concernsOne tells whether a call in the making of a container is that container's affair. By
// recvmsg the spawner takes its orders: when that fails it ends, with all that it has started.
func (f fault) concernsOne() bool { return f.call != "recvmsg" }

// neighbour starts one, and waits until its program runs.
func (s *server) neighbour(t *testing.T) *neighbour {
	t.Helper()
	ctx, leave := context.WithCancel(context.Background())
	n := &neighbour{s, make(chan answer, 1), leave}
	go func() {
		n.ended <- s.executeUntil(ctx, api.Request{Language: "bash", Code: "exec sleep 60", TimeoutSeconds: 60})
	}()
	if !testenv.Within(10*time.Second, n.runs) {
		leave()
		t.Fatalf("no run next door: %s", <-n.ended)
	}
	return n
}

func (n *neighbour) runs() bool {
	return slices.ContainsFunc(testenv.Below(n.server.Cmd.Process.Pid), func(p testenv.Process) bool { return p.Name == "sleep" })
}

// undisturbed looks that it still runs, and ends it.
func (n *neighbour) undisturbed(t *testing.T, f fault) {
	t.Helper()
	defer n.leave()
	select {
	case a := <-n.ended:
		t.Errorf("%s: the run next door has ended: %s", f, a)
	default:
		if !n.runs() {
			t.Errorf("%s: the program next door has gone", f)
		}
		n.leave()
		if !testenv.Within(10*time.Second, func() bool { return !n.runs() }) {
			t.Errorf("%s: the run next door does not end when its caller leaves", f)
		}
	}
}
