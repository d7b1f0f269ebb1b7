package faults

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// target is a process whose calls are made to fail, and how many in a row of one thread
// are tried.
type target struct {
	name  string
	calls []call
	pid   func(*server) int
}

var targets = []target{
	{"server", ofServer, func(s *server) int { return s.Cmd.Process.Pid }},
	{"init", ofInit, (*server).spawner},
}

// TestCalls makes system calls of a run fail, one after the other.
func TestCalls(t *testing.T) {
	needTracer(t)
	for turn, level := range []string{"full", "restricted"} {
		for _, to := range targets {
			t.Run(level+" "+to.name, func(t *testing.T) {
				s := start(t, "SANDBOX_ISOLATION="+level, reachable)
				known, made := learn(t, s), map[string]bool{}
				for i, c := range to.calls {
					if *only != "" && c.name != *only || !*allOf && *only == "" && (i+turn)%2 != 0 {
						continue // the sample takes turns with the levels
					}
					if !*allOf && slices.Contains(unmade[level+" "+to.name], c.name) {
						continue
					}
					t.Run(c.name, func(t *testing.T) {
						for _, name := range s.fail(t, to, c, known, i) {
							made[c.name], made[name] = true, true
						}
						if *what == "" && !made[c.name] && !slices.Contains(unmade[level+" "+to.name], c.name) {
							t.Error("no run makes this call: nothing was tried")
						}
					})
				}
				for _, sc := range known {
					if *allOf && *only == "" && !made[sc.name] {
						t.Errorf("no call of %s was made to fail", sc.name)
					}
				}
			})
		}
	}
}

// learn runs every scenario that works here, and notes what its answer is.
func learn(t *testing.T, s *server) (known []scenario) {
	t.Helper()
	for _, sc := range scenarios {
		if _, err := exec.LookPath(sc.needs); sc.needs != "" && err != nil || *what != "" && *what != sc.name {
			continue
		}
		var a answer
		for range 2 { // what is prepared at the first run is there at the second
			a = s.execute(sc.request)
		}
		if sc.name == "walls" {
			sc.stdout = a.Stdout
		}
		if why := sc.wrong(a); why != "" || a.code != http.StatusOK {
			t.Fatalf("%s, with nothing that fails: %s\n%s", sc.name, why, a)
		}
		known = append(known, sc)
	}
	s.settle()
	return known
}

// most is how many calls in a row of one thread are made to fail, one at a time.
const most = 40

// fail makes one call fail at every turn, with its errnos taking turns, or, as a sample,
// once. It gives the scenarios in which it failed.
func (s *server) fail(t *testing.T, to target, c call, known []scenario, index int) (in []string) {
	if !*allOf {
		for turn := range known {
			sc := known[(index+turn)%len(known)]
			for _, n := range []int{1 + index%5, 1} { // not every run makes as many
				if s.one(t, to, fault{c.name, c.ways[index%len(c.ways)], fmt.Sprint(n)}, sc) {
					return []string{sc.name}
				}
			}
		}
		return nil
	}
	for turn, sc := range known {
		for n := 1; n <= most; n++ {
			if !s.one(t, to, fault{c.name, c.ways[(n+turn)%len(c.ways)], fmt.Sprint(n)}, sc) {
				break // no thread makes as many
			}
			in = append(in, sc.name)
		}
		way := c.ways[turn%len(c.ways)]
		// For as long as the run takes, where an answer takes none, and where a program can
		// be ended without.
		if !slices.Contains([]string{"accept4", "write", "sendmsg", "kill"}, c.name) && way != "error=EINTR" {
			s.one(t, to, fault{c.name, way, "1+"}, sc)
		}
	}
	return in
}

// one runs a scenario with a fault, and tells whether any call failed.
func (s *server) one(t *testing.T, to target, f fault, sc scenario) bool {
	t.Helper()
	pid := to.pid(s)
	var beside *neighbour
	if to.name == "init" && f.concernsOne() && (!*allOf || f.which == "1") {
		beside = s.neighbour(t)
	}
	i := inject(t, pid, f)
	a := s.execute(sc.request)
	tr := i.stop(t)
	if beside != nil {
		beside.undisturbed(t, f)
	}
	if s.crashed(t) {
		return true
	}
	injected += len(tr.failed)
	if len(tr.failed) == 0 {
		return false
	}
	why := sc.wrong(a)
	switch {
	case why == "":
	case a.err != nil && tr.broke() && a.took < caller.Timeout: // its connection was what failed
		why = ""
	case to.name == "init" && (tr.programs > 0 && tr.programs == len(tr.failed) || a.filtered()): // what the program made of it is its own
		why = ""
	}
	note(to, f, sc, a)
	if why != "" {
		wrong++
		t.Errorf("%s: %s: %s\n%s\n%s", sc.name, f, why, a, strings.Join(tr.failed[:min(4, len(tr.failed))], "\n"))
	}
	next := sc
	if sc.status != "ok" {
		next = hello
	}
	s.check(t, next)
	return true
}

// What was seen, for the report.
var (
	injected, wrong int
	told            = map[string]int{}
)

func note(to target, f fault, sc scenario, a answer) {
	line := string(a.Status)
	switch {
	case a.err != nil:
		line = "no answer"
	case a.code != http.StatusOK:
		line = fmt.Sprintf("%d %s", a.code, numbers.ReplaceAllString(a.problem.Detail, "#"))
	}
	told[fmt.Sprintf("%s %s %s: %s", to.name, f.call, f.how, line)]++
}

// report writes the table of what was told, if somebody wants it.
func report() error {
	fmt.Printf("%d calls failed, %d answers were wrong\n", injected, wrong)
	if *table == "" {
		return nil
	}
	var lines []string
	for line, n := range told {
		lines = append(lines, fmt.Sprintf("%s (%d)", line, n))
	}
	slices.Sort(lines)
	return os.WriteFile(*table, []byte(strings.Join(lines, "\n")+"\n"), 0o644)
}
