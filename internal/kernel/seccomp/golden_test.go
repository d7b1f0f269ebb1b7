package seccomp

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden tables")

// TestGoldenTable shows what becomes of every number from 0 to 1023, so that a change
// of the policy is read as one of the table. Where arguments decide, the answers are
// those that there are, the last one for all the rest.
func TestGoldenTable(t *testing.T) {
	columns := []struct {
		name string
		opts Options
	}{
		{"full", Options{}},
		{"full, internet", Options{Inet: true}},
		{"full, internet, no UDP", Options{Inet: true, NoUDP: true}},
		{"one user", Options{OneUser: true}},
		{"one user, memory sampled", Options{OneUser: true, MemorySampled: true}},
		{"restricted", Options{Restricted: true, Attributes: TimesSupervised}},
		{"restricted, internet, supervised", Options{Restricted: true, Inet: true, Supervised: true, Attributes: AttributesSupervised}},
	}
	for goarch, arch := range map[string]Arch{"amd64": AMD64, "arm64": ARM64} {
		var b strings.Builder
		b.WriteString("# go test ./internal/kernel/seccomp -run Golden -update\n# number\tname")
		var machines []machine
		var policies []map[string][]Rule
		for _, column := range columns {
			b.WriteString("\t" + column.name)
			machines = append(machines, compiled(t, Default(column.opts), arch))
			policies = append(policies, ruled(Default(column.opts)))
		}
		b.WriteString("\n")
		for n := range 1024 {
			name := arch.Name(n)
			line := []string{fmt.Sprint(n), name}
			if name == "" {
				line[1] = "-"
			}
			for i, rules := range policies {
				line = append(line, answers(t, machines[i], rules[name], n, arch))
			}
			b.WriteString(strings.Join(line, "\t") + "\n")
		}
		file := filepath.Join("testdata", "calls_"+goarch+".golden")
		if *update {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.String(); got != string(want) {
			t.Errorf("%s is not what the policy says; read the difference and run it with -update:\n%s", file, difference(got, string(want)))
		}
	}
}

// answers are what the compiled program says to a call, whatever its arguments.
func answers(t *testing.T, m machine, rules []Rule, number int, arch Arch) string {
	seen := map[Action]bool{}
	for _, c := range corpus(rules, uint32(number), arch) {
		seen[m.run(t, c)] = true
	}
	var list []string
	add := func(a Action) {
		text := a.String()
		if errno, fails := a.Errno(); fails && errno != 0 {
			text = errno.String()
		}
		if seen[a] && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	for _, rule := range rules {
		add(rule.Action)
	}
	add(Fail(ENOSYS)) // the default
	if len(list) < len(seen) {
		t.Errorf("%d: an answer is no rule's: %v", number, seen)
	}
	return strings.Join(list, "|")
}

// difference are the lines of two texts that differ.
func difference(got, want string) string {
	var b strings.Builder
	wants := strings.Split(want, "\n")
	for i, line := range strings.Split(got, "\n") {
		if i >= len(wants) || line != wants[i] {
			fmt.Fprintf(&b, "got %s\n", line)
			if i < len(wants) {
				fmt.Fprintf(&b, "want %s\n", wants[i])
			}
		}
	}
	return b.String()
}
