// Package soak has the built sandbox-server work for long, and looks whether anything
// of it or of the machine grows: mixed runs at twice its capacity, and every stressor
// of stress-ng inside.
//
// Nothing else may be running sandboxes on the machine meanwhile.
package soak

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// What the suite does in a few seconds is made longer by make soak and make soak-race.
var (
	runs   = flag.Int("soak", 150, "how many runs TestSoak makes; from 1000 on with dear languages too")
	period = flag.Duration("for", 0, "how long TestSoak goes on, instead of a number of runs")
	seed   = flag.Uint64("seed", uint64(time.Now().UnixNano()), "of the order of the programs")
	level  = flag.String("isolation", "auto", "the isolation level")
	race   = flag.Bool("race-server", false, "build the server with the race detector, which takes a C compiler")
	warm   = flag.String("warm", "off", "SANDBOX_WARM of the server: with auto, each rest waits until no more is ready than at the start")
	stress = flag.String("stress", "", "classes of stress-ng that TestStress runs, with commas between; all for every one")
	report = flag.String("report", "", "append the tables, in Markdown, to this file")
)

// binary is the server under test, and work a directory of ours.
var binary, work string

func TestMain(m *testing.M) {
	flag.Parse()
	testenv.Main(func(dir string) (code int, err error) {
		work = dir
		if *race {
			binary, err = raceServer(dir)
		} else {
			binary, err = testenv.Program(dir, "sandbox-server", "SANDBOX_TEST_SERVER")
		}
		if err != nil {
			return 0, err
		}
		return m.Run(), nil
	})
}

// raceServer builds a server that tells on its stderr of unsynchronized access to memory.
func raceServer(dir string) (string, error) {
	if path := os.Getenv("SANDBOX_TEST_SERVER"); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, "sandbox-server")
	build := exec.Command("go", "build", "-race", "-o", path, "github.com/sandbox-run/sandbox-run/cmd/sandbox-server")
	build.Env = append(os.Environ(), "CGO_ENABLED=1")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build sandbox-server with the race detector: %w\n%s", err, out)
	}
	return path, nil
}

// instance is the server at work. Whatever it writes is below dir.
type instance struct {
	*testenv.Server
	dir    string
	client *client.Client
	ready  map[string]int // containers by language, before the first run
	open   map[string]int // descriptors by what they are, at the last look

	mu     sync.Mutex
	faults []string
	ended  map[string]map[string]int // by program and what came of it
}

// start starts a server that keeps nothing but what it cannot do without.
func start(t *testing.T) *instance {
	t.Helper()
	dir := filepath.Join(work, t.Name())
	for _, sub := range []string{"tmp", "run", "data"} { // at restricted, programs look up their files below tmp
		if err := os.MkdirAll(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	settings := []string{"TMPDIR=" + filepath.Join(dir, "tmp"), "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run"),
		"SANDBOX_DATA_DIR=" + cmp.Or(os.Getenv("SANDBOX_DATA_DIR"), filepath.Join(dir, "data")),
		"SANDBOX_ISOLATION=" + *level, "SANDBOX_WARM=" + *warm, "SANDBOX_COMPILE_CACHE_MB=0", // the compilers are to work, too
		"GOGC=10"} // or what is garbage would hide a small leak for thousands of runs
	if *level == "restricted" { // which sees the host's root: no toolchain of root's home
		settings = append(settings, "PATH=/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin")
	}
	if long() {
		dropCaches(t)
	}
	keeps := kept()
	server, err := testenv.Launch(binary, nil, settings...)
	if err != nil {
		t.Fatal(err)
	}
	s := &instance{Server: server, dir: dir, ended: map[string]map[string]int{}}
	t.Cleanup(func() {
		err := s.Stop()
		if _, found, ok := strings.Cut(s.Logged(), "WARNING: DATA RACE"); ok {
			t.Errorf("the race detector has found something:%.20000s", found)
		} else if err != nil {
			t.Error(err)
		}
		if long() {
			dropCaches(t)
			if !testenv.Within(15*time.Second, func() bool { return !(kept() > keeps+heldElsewhere) }) {
				t.Errorf("%s: %g when the server has ended, %g before it began", keptGroups, kept(), keeps)
			}
		}
	})
	if s.client, err = client.New(server.URL, client.Options{}); err != nil {
		t.Fatal(err)
	}
	if *warm != "off" && !testenv.Within(5*time.Minute, func() bool {
		before := s.ready
		time.Sleep(10 * time.Second) // what is made at the start is made one after the other
		health, err := s.client.Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.ready = health.Warm
		return maps.Equal(before, s.ready)
	}) {
		t.Fatalf("at the start there are ever more containers ready: %v", s.ready)
	}
	return s
}

// fault notes what is wrong with an answer.
func (s *instance) fault(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, fmt.Sprintf(format, args...))
}

// count notes what came of a run.
func (s *instance) count(program, what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended[program] == nil {
		s.ended[program] = map[string]int{}
	}
	s.ended[program][what]++
}

// failed fails the test with the first faults.
func (s *instance) failed(t *testing.T) {
	t.Helper()
	for _, f := range s.faults[:min(len(s.faults), 20)] {
		t.Error(f)
	}
	if more := len(s.faults) - 20; more > 0 {
		t.Errorf("and %d more", more)
	}
}

// write shows a table, and appends it to the file that -report names.
func write(t *testing.T, table string) {
	t.Helper()
	t.Log("\n" + table)
	if *report == "" {
		return
	}
	f, err := os.OpenFile(*report, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, table); err != nil {
		t.Error(err)
	}
}
