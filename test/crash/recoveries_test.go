package crash

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// A server with a key has tenants, and so all of the control groups that there can be.
const key = "a-key-of-the-crash-tests"

// launch starts a server, which dies where it is told to: perhaps before it is ready,
// and then it is nil.
func (u user) launch(t *testing.T, settings ...string) *testenv.Server {
	t.Helper()
	s, err := testenv.Launch(server, u.as, append(u.settings("SANDBOX_API_KEY="+key, "SANDBOX_MAX_CONCURRENT=16"), settings...)...)
	if err != nil && !strings.Contains(err.Error(), "signal: killed") {
		t.Fatal(err)
	}
	if s != nil {
		s.Key = key
	}
	return s
}

var hello = api.Request{Language: "bash", Code: "echo hello"}

// requests are what a server is busy with when it dies.
var requests = []api.Request{
	{Language: "bash", Code: "echo out"},
	{Language: "bash", Code: "setsid sleep 1000 & echo out; sleep 0.1"},
	{Language: "bash", Code: "sleep 1000", TimeoutSeconds: 0.2},
	{Language: "bash", Code: "for i in $(seq 50); do (sleep 1000 &); done; sleep 1000"},
	{Language: "bash", Code: "mkdir -p a/b/c; chmod 0 a; yes | head -c 1000000 >big", Isolation: "restricted"},
	{Language: "bash", Code: "sleep 1000 & setsid sleep 1000 & echo out; sleep 0.05", Isolation: "restricted"},
	{Language: "python", Code: "print(6*7)"},
}

// busy sends requests side by side and waits for their answers, of which a server that
// dies gives none.
func busy(t *testing.T, s *testenv.Server, list []api.Request) {
	begin(t, s, list)() // there may be nobody to answer
}

// begin sends requests side by side; what it returns waits for their answers.
func begin(t *testing.T, s *testenv.Server, list []api.Request) (ended func() []answer) {
	var clients sync.WaitGroup
	answers := make([]answer, len(list))
	for i, r := range list {
		clients.Go(func() { answers[i] = execute(t, s, r) })
	}
	return func() []answer {
		clients.Wait()
		return answers
	}
}

// answer is what a server says of a request, or why it does not.
type answer struct {
	api.Result
	err error
}

func execute(t *testing.T, s *testenv.Server, r api.Request) answer {
	c, err := client.New(s.URL, client.Options{Key: key})
	if err != nil {
		return answer{err: err}
	}
	defer c.Close()
	r.Env = map[string]string{"CRASH_TEST": "mine"}
	result, err := c.Execute(t.Context(), r)
	if err != nil {
		return answer{err: err}
	}
	return answer{Result: *result}
}

// recover starts a server again, which is ready when what the one before has left is
// gone, serves, and ends.
func (u user) recover(t *testing.T) {
	t.Helper()
	s := u.launch(t)
	if s == nil {
		t.Fatal("a server that was not told to die did")
	}
	if a := execute(t, s, hello); a.Stdout != "hello\n" {
		t.Errorf("hello: %+v", a)
	}
	if err := s.Stop(); err != nil {
		t.Error(err)
	}
}

// TestServer dies with four runs at once, at places on the way of each.
func TestServer(t *testing.T) {
	root, ordinary := users(t)
	other := live(t, root)
	for _, u := range []user{root, ordinary} {
		points := []string{"init started", "process runs", "rest killed", "scope removed", "container deleted"}
		if u.as == nil {
			points = slices.Concat(ofTheServer, points)
		}
		for i, p := range points {
			if *only != "" && *only != p {
				continue
			}
			t.Run(u.name+"/"+p, func(t *testing.T) {
				before := settled(t)
				s := u.launch(t, fmt.Sprintf("FAULT_POINT=%s:%d", p, 1+i%3))
				if s != nil {
					busy(t, s, requests[:4])
					if !dead(s) {
						t.Fatalf("it never came to %q", p)
					}
				}
				u.recover(t)
				asBefore(t, before, func() { u.does(t, "gc") })
			})
		}
	}
	other.untouched(t)
}

// TestReady dies where containers are made, used and given up that wait for runs, with a tenant who asks
// for so much that interpreters are forked.
func TestReady(t *testing.T) {
	root, ordinary := users(t)
	other := live(t, root)
	for _, u := range []user{root, ordinary} {
		points := slices.Clone(ahead)
		if u.as == nil {
			points = append(points, kin...)
		}
		if without("javac")() == "" {
			points = append(points, ofCompilers...)
		}
		for _, p := range points {
			if *only != "" && *only != p {
				continue
			}
			t.Run(u.name+"/"+p, func(t *testing.T) {
				before := settled(t)
				s := u.launch(t, "SANDBOX_WARM=auto", "FAULT_POINT="+p)
				for begun := time.Now(); s != nil && !ended(s); busy(t, s, manyOf(p)) {
					switch since := time.Since(begun); {
					case since > *within:
						t.Errorf("it never came to %q", p)
						s.Kill()
					case endsWith(s, p):
						if err := s.Stop(); err == nil { // it should have died on the way
							t.Errorf("it ended, and never came to %q", p)
						}
					}
				}
				if s != nil {
					s.Kill()
				}
				u.recover(t)
				asBefore(t, before, func() { u.does(t, "gc") })
			})
		}
	}
	other.untouched(t)
}

// endsWith tells whether a server has something by whose end it comes by a place, as it ends itself.
func endsWith(s *testenv.Server, point string) bool {
	switch point {
	case "ready container given up":
		return s.Metric("sandbox_containers_taken_total", `how="warm"`) > 0
	case "ancestor ended":
		return s.Metric("sandbox_ancestors") > 0
	}
	return false
}

// manyOf are requests by which a server with ready containers comes by a place.
func manyOf(point string) []api.Request {
	one := api.Request{Language: "python", Code: "print(6*7)"}
	switch {
	case slices.Contains(ofCompilers, point): // whose work is kept for the next time
		return []api.Request{{Language: "java", Code: fmt.Sprintf("class Main { public static void main(String[] a) { System.out.println(%dL); } }", time.Now().UnixNano())}}
	case point == "process forked ahead":
		one = api.Request{Language: "bash", Code: "echo out"}
	}
	return []api.Request{one, one, one, one}
}

// ended tells whether a server has.
func ended(s *testenv.Server) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.Cmd.Process.Pid))
	return err != nil || strings.Contains(string(stat), ") Z ")
}

// dead tells whether a server has ended, and buries it.
func dead(s *testenv.Server) bool {
	if !testenv.Within(soon, func() bool { return ended(s) }) {
		return false
	}
	s.Kill()
	return true
}

// TestRecoveries dies at random: at any place but those of an engine's containers, the first
// time or a later one, alone or with others at work, or whenever the kernel feels like it; and
// recovers by whatever comes next.
func TestRecoveries(t *testing.T) {
	root, ordinary := users(t)
	rootfs(t)
	other := live(t, root)
	begin := *seed
	if begin == 0 {
		begin = rand.Uint64()
	}
	t.Logf("-seed %d", begin)
	r := &recovery{t: t, rand: rand.New(rand.NewPCG(begin, 0)), users: []user{root, root, ordinary}, counts: map[string]int{}}
	for _, w := range ways() {
		if w.unless == nil || w.unless() == "" {
			r.ways = append(r.ways, w)
		}
	}
	before := settled(t)
	for len(r.took) < *recoveries && !t.Failed() {
		how, died := r.die()
		start := time.Now()
		how += "; " + r.comeBack()
		again := func() {
			r.counts["gc once more"]++
			r.who.does(t, "gc")
		}
		if !asBefore(t, before, again) {
			t.Errorf("recovery %d, -seed %d: %s", len(r.took), begin, how)
		}
		if died {
			r.took = append(r.took, time.Since(start))
		}
	}
	other.untouched(t)
	slices.Sort(r.took)
	t.Logf("%d recoveries: %v", len(r.took), r.counts)
	if n := len(r.took); n > 0 {
		t.Logf("until nothing was left: median %v, 99 %% %v, most %v", r.took[n/2], r.took[n*99/100], r.took[n-1])
	}
}

// recovery is the state of TestRecoveries.
type recovery struct {
	t      *testing.T
	rand   *rand.Rand
	users  []user
	ways   []way
	who    user // who died last
	served bool // as a server
	took   []time.Duration
	counts map[string]int
}

// die has a server or a sandbox-run die, and says how. A sandbox-run may get by.
func (r *recovery) die() (how string, died bool) {
	r.who = r.users[r.rand.IntN(len(r.users))]
	r.served = r.rand.IntN(2) == 0
	w := r.draw()
	points, of := w.reaches(r.who), ""
	switch {
	case !r.served:
		r.who = w.by(r.t, r.who)
	case r.who.as == nil && r.rand.IntN(4) == 0 && without("crun")() == "":
		points, of = slices.Concat(ofOCI, ahead, []string{"file written", "workspace filled", "files collected"}), " of oci"
		r.who = r.who.with("SANDBOX_TYPE=oci")
	default:
		points = slices.Concat(life, ofTheServer, ahead, kin, []string{"directory made", "container directory made", "entry removed"})
	}
	nth := 1 + r.rand.IntN(4)
	if !r.served {
		nth = max(1, nth-2) // fewer come by
	}
	point := fmt.Sprintf("%s:%d", points[r.rand.IntN(len(points))], nth)
	after := time.Duration(-1)
	if r.rand.IntN(3) == 0 {
		point, after = "", time.Duration(r.rand.IntN(400))*time.Millisecond
	}
	if !r.served {
		return r.dieAlone(w, point, after)
	}
	return r.dieServing(of, point, after)
}

// draw takes a way that the user can go; one that begins with nothing takes seconds, and is
// drawn less often.
func (r *recovery) draw() way {
	fresh := r.who.as == nil && r.rand.IntN(8) == 0
	for {
		w := r.ways[r.rand.IntN(len(r.ways))]
		if w.fresh == fresh && w.engine == "" && (r.who.as == nil || w.ordinary) {
			return w
		}
	}
}

// dieAlone has sandbox-run die at a place, or after a time.
func (r *recovery) dieAlone(w way, point string, after time.Duration) (string, bool) {
	if w.before != nil {
		if err := r.who.command(w.before.args, []string{"FAULT_POINT=" + w.before.points[0]}).Run(); !killed(err) {
			r.t.Fatal(err)
		}
	}
	cmd := r.who.command(w.args, []string{"FAULT_POINT=" + point})
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	if after >= 0 {
		if !w.fresh {
			after /= 5 // as long as such a run takes
		}
		time.AfterFunc(after, func() { _ = cmd.Process.Kill() })
	}
	died := killed(cmd.Wait()) || w.before != nil
	return r.tell("sandbox-run", died, "%s as %s, at %q or after %v", w.name, r.who.name, point, after)
}

// dieServing has a server die with up to four runs.
func (r *recovery) dieServing(of, point string, after time.Duration) (string, bool) {
	warm := []string{"off", "auto"}[r.rand.IntN(2)]
	s := r.who.launch(r.t, "FAULT_POINT="+point, "SANDBOX_WARM="+warm)
	if s == nil {
		return r.tell("server"+of, true, "before it was ready, as %s, at %q", r.who.name, point)
	}
	var list []api.Request
	for range 1 + r.rand.IntN(4) {
		list = append(list, requests[r.rand.IntN(len(requests))])
	}
	if after < 0 {
		after = 2 * time.Second // it has not come there, and never will
	}
	timer := time.AfterFunc(after, func() { _ = s.Cmd.Process.Kill() })
	busy(r.t, s, list)
	timer.Stop()
	s.Kill()
	return r.tell("server"+of+", warm "+warm, true, "with %d runs as %s, at %q or after %v", len(list), r.who.name, point, after)
}

func (r *recovery) tell(what string, died bool, format string, args ...any) (string, bool) {
	if !died {
		what += " that got by"
	}
	r.counts[what]++
	return what + " " + fmt.Sprintf(format, args...), died
}

// comeBack recovers by what comes next, and says by what.
func (r *recovery) comeBack() string {
	next := r.rand.IntN(3)
	switch {
	case next == 0 || r.served: // whose socket is the next one's to take
		r.who.recover(r.t)
		r.counts["recovered by a server"]++
		if !r.served { // which knows of what else a killed sandbox-run was making
			r.who.does(r.t, "gc")
		}
		return "a server"
	case next == 1:
		r.who.does(r.t, "gc")
		r.counts["recovered by gc"]++
		r.who.hello(r.t)
		return "gc"
	}
	r.who.hello(r.t)
	r.who.does(r.t, "gc")
	r.counts["recovered by a run"]++
	return "a run"
}
