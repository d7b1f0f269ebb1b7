package soak

import (
	"fmt"
	"maps"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// classes are those of stress-ng.
var classes = []string{"cpu", "cpu-cache", "device", "filesystem", "interrupt", "io", "memory", "network", "os", "pipe", "scheduler", "security", "vm"}

// TestStress runs every stressor of stress-ng in a sandbox with ordinary limits, one
// class after the other: two workers for a second each, four stressors side by side and
// ordinary programs next door. What they are refused is theirs; the server goes on, the
// programs next door have noticed nothing, and after each class the machine is what it was.
func TestStress(t *testing.T) {
	if *stress == "" {
		t.Skip("it takes minutes: make soak, or -stress all")
	}
	if _, err := exec.LookPath("stress-ng"); err != nil {
		t.Skip("stress-ng is not installed: apt-get install stress-ng")
	}
	chosen := strings.Split(*stress, ",")
	if *stress == "all" {
		chosen = classes
	}
	s := start(t)
	m := mixFor(t, s)
	m.each(t)
	var table, unusual strings.Builder
	table.WriteString("| class | stressors | went on to the end | not run inside | failed | ended by a limit |\n|---|--:|--:|--:|--:|--:|\n")
	unusual.WriteString("| stressor | what came of it |\n|---|---|\n")
	told := map[string]bool{}
	for _, class := range chosen {
		t.Run(class, func(t *testing.T) {
			came := m.class(t, class)
			n := map[string]int{}
			for _, name := range slices.Sorted(maps.Keys(came)) {
				n[came[name].kind]++
				if came[name].why != "" && !told[name] {
					told[name] = true
					fmt.Fprintf(&unusual, "| %s | %s: %s |\n", name, came[name].kind, came[name].why)
				}
			}
			fmt.Fprintf(&table, "| %s | %d | %d | %d | %d | %d |\n", class, len(came), n[whole], n[refused], n[failed], n[ended])
		})
	}
	write(t, table.String()+"\n"+unusual.String())
	s.failed(t)
}

// The ends of a stressor.
const (
	whole   = "whole"
	refused = "not run"
	failed  = "failed"
	ended   = "ended"
)

// outcome is what came of a stressor, and why it did not come to its end.
type outcome struct{ kind, why string }

// class runs the stressors of a class, and compares the machine with what it was.
func (m *mix) class(t *testing.T, class string) map[string]outcome {
	t.Helper()
	log := kernelLog(t)
	before := m.rest(t)
	done := make(chan struct{})
	var nextDoor sync.WaitGroup
	nextDoor.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-done:
				return
			default:
				m.send(t.Context(), m.ordinary[i%len(m.ordinary)])
			}
		}
	})
	todo := make(chan string)
	came := map[string]outcome{}
	var workers sync.WaitGroup
	var mu sync.Mutex
	for range 4 {
		workers.Go(func() {
			for name := range todo {
				o := m.stressor(t, class, name)
				mu.Lock()
				came[name] = o
				mu.Unlock()
			}
		})
	}
	for _, name := range stressors(t, class) {
		todo <- name
	}
	close(todo)
	workers.Wait()
	close(done)
	nextDoor.Wait()
	now := m.rest(t)
	for _, f := range figures {
		most := before[f.name]
		if f.name == keptGroups {
			most += heldElsewhere
		}
		if f.bound == 0 && now[f.name] > most {
			t.Errorf("%s: %g, before %g", f.name, now[f.name], before[f.name])
		}
	}
	for _, line := range log.BadNews() {
		t.Errorf("the kernel says: %s", line)
	}
	m.work(t, m.ordinary) // every language says hello
	return came
}

// stressors are those of a class, as stress-ng itself lists them.
func stressors(t *testing.T, class string) []string {
	t.Helper()
	out, err := exec.Command("stress-ng", "--class", class+"?").Output()
	_, names, ok := strings.Cut(string(out), "stressors:")
	if err != nil || !ok {
		t.Fatalf("stress-ng does not list class %s: %v %s", class, err, out)
	}
	return strings.Fields(names)
}

var (
	skipped   = regexp.MustCompile(`(?m)^stress-ng: \w+: *\[\d+\] (.*(?:will be skipped|skipping stressor|No stress workers invoked).*)$`)
	complaint = regexp.MustCompile(`(?m)^stress-ng: (?:fail|error): *\[\d+\] (.*)$`)
)

// stressor runs one of a class.
func (m *mix) stressor(t *testing.T, class, name string) outcome {
	t.Helper()
	req := api.Request{Language: "bash", Code: `exec stress-ng --"$1" 2 --timeout 1 2>&1`, Args: []string{name}, TimeoutSeconds: 20, Collect: &[]string{}}
	if class == "network" { // class os has most of them without any
		req.Network = &api.RequestNetwork{Mode: "localhost"}
	}
	r, err := m.client.Execute(t.Context(), req)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return outcome{failed, err.Error()}
	}
	why := ""
	for _, said := range []*regexp.Regexp{skipped, complaint} {
		for _, match := range said.FindAllStringSubmatch(r.Stdout, -1) {
			if why == "" && match[1] != "no CPUs found in /sys/devices/system/cpu" { // there is no /sys
				why = strings.TrimPrefix(match[1], name+": ")
			}
		}
	}
	switch {
	case r.Status == api.StatusSandboxError:
		t.Errorf("%s: %s", name, r.Message)
		return outcome{failed, r.Message}
	case r.Status != api.StatusOK && r.Status != api.StatusRuntimeError:
		return outcome{ended, string(r.Status)}
	case r.ExitCode == 3 || r.ExitCode == 4 || skipped.MatchString(r.Stdout): // no resources, or not for this kernel
		return outcome{refused, why}
	case r.ExitCode != 0:
		return outcome{failed, fmt.Sprintf("exit code %d: %s", r.ExitCode, why)}
	}
	return outcome{whole, why}
}
