package crash

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// sleeping are runs that do not end by themselves, each of two processes.
var sleeping = slices.Repeat([]api.Request{{Language: "bash", Code: "setsid sleep 1000 & sleep 1000", TimeoutSeconds: 200}}, 4)

// asleep waits until all of their processes are there.
func asleep(t *testing.T) {
	t.Helper()
	n := 0
	if !testenv.Within(3*soon, func() bool {
		n = 0
		for what := range look(t).ours {
			if strings.Contains(what, `"sleep\x00`) {
				n++
			}
		}
		return n == 2*len(sleeping)
	}) {
		t.Fatalf("%d processes sleep, want two of each of %d runs", n, len(sleeping))
	}
}

// TestServerElsewhere kills servers whose containers an OCI runtime or an engine makes: with
// runs that sleep, or at places on the way of each.
func TestServerElsewhere(t *testing.T) {
	root, _ := users(t)
	other := live(t, root)
	for _, w := range ways() {
		if !slices.ContainsFunc(w.settings, func(s string) bool { return strings.HasPrefix(s, "SANDBOX_TYPE=") }) {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			if w.unless() != "" {
				t.Skip(w.unless())
			}
			points := []string{"bundle written", "guest made", "bundle removed"}
			if w.engine != "" {
				points = []string{"engine's container made", "engine's container started", "engine's container removed"}
			}
			u := root.with(w.settings...)
			u.recover(t) // an engine prepares its image
			for _, p := range append(points, "") {
				if *only == "" || *only == p {
					t.Run(cmp.Or(p, "asleep"), func(t *testing.T) { u.dieElsewhere(t, p) })
				}
			}
		})
	}
	other.untouched(t)
}

// dieElsewhere kills a server at the third passing of a place, after the look at its first
// containers, or when its runs sleep.
func (u user) dieElsewhere(t *testing.T, point string) {
	before := settled(t)
	s := u.launch(t, "FAULT_POINT="+point+":3")
	switch {
	case s == nil:
	case point == "":
		ended := begin(t, s, sleeping)
		asleep(t)
		s.Kill()
		ended()
	default:
		busy(t, s, requests[:4])
		if !dead(s) {
			s.Kill()
			t.Errorf("it never came to %q", point)
		}
	}
	u.recover(t)
	asBefore(t, before, func() { u.does(t, "gc") })
}

// TestRemote kills a server that has its containers on another one, and that other one.
func TestRemote(t *testing.T) {
	const keyOfNear = "a-key-of-the-near-server"
	root, _ := users(t)
	other := live(t, root)
	before := settled(t)
	keys := filepath.Join(root.home, "keys.yaml")
	if err := os.WriteFile(keys, []byte("- {key: "+keyOfNear+", tenant: near, scopes: runtime}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	far := root.with("SANDBOX_DATA_DIR="+root.data()+"-far", "SANDBOX_API_KEYS_FILE="+keys)
	behind := far.launch(t)
	t.Cleanup(func() { behind.Kill() })
	address, err := url.Parse(behind.URL)
	if err != nil {
		t.Fatal(err)
	}
	far = far.with("SANDBOX_PORT=" + address.Port()) // where it comes back
	near := root.with("SANDBOX_TYPE=remote", "SANDBOX_REMOTE="+behind.URL, "SANDBOX_REMOTE_KEY="+keyOfNear)
	gc := func() { root.does(t, "gc") }

	t.Run("near", func(t *testing.T) {
		near.recover(t) // what is made once is there
		idle := settled(t)
		front := near.launch(t)
		ended := begin(t, front, sleeping)
		asleep(t)
		front.Kill()
		ended()
		asBefore(t, idle, gc) // while the far one lives
		near.recover(t)
		asBefore(t, idle, gc)
	})
	t.Run("far", func(t *testing.T) {
		front := near.launch(t)
		t.Cleanup(func() { front.Kill() })
		ended := begin(t, front, sleeping)
		asleep(t)
		behind.Kill()
		for _, a := range ended() {
			if why := a.away(); why != "" {
				t.Errorf("a run whose server dies: %s: %+v", why, a)
			}
		}
		if a := execute(t, front, hello); a.away() != "" {
			t.Errorf("a run that has no server: %s: %+v", a.away(), a)
		}
		behind = far.launch(t)
		var a answer
		if !testenv.Within(soon, func() bool { a = execute(t, front, hello); return a.Stdout == "hello\n" }) {
			t.Errorf("the far server is back: %+v", a)
		}
		if err := front.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := behind.Stop(); err != nil {
		t.Error(err)
	}
	asBefore(t, before, gc)
	other.untouched(t)
}

// away tells what is wrong with an answer that should say that another server has gone, and
// that it may be tried again.
func (a answer) away() string {
	switch {
	case a.err != nil:
		return "no answer"
	case a.Status != api.StatusSandboxError:
		return fmt.Sprintf("the status is %s", a.Status)
	case a.Retryable == nil || !*a.Retryable:
		return "it may not be tried again"
	case !strings.Contains(a.Message, "was lost") && !strings.Contains(a.Message, "no answer"):
		return "it does not say why"
	}
	return ""
}
