package cli

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// Where what the runs have seen is collected, and the page whose table is written
// from it: scripts/test-runtimes.sh gives them.
var (
	seenDir   = flag.String("seen", "", "a directory for what the verdicts show of each runtime")
	tablePage = flag.String("table", "", "the page whose table TestRuntimesTable writes from -seen")
)

// seen is what the verdicts have shown of one runtime.
type seen struct {
	Name        string            `json:"name"`
	Level       string            `json:"level"`
	Isolation   map[string]string `json:"isolation"`
	Enforcement map[string]string `json:"enforcement"`
	// Hello is the time of a hello world in Python, the whole process, and Idle the
	// memory of all that is there while a program sleeps.
	Hello time.Duration `json:"hello"`
	Idle  int64         `json:"idle"`
	// Ends counts how cases ended, by language.
	Ends map[string]map[string]int `json:"ends"`

	mu      sync.Mutex
	refusal map[string]bool
	user    user
}

func newSeen(u user, r api.Result) *seen {
	return &seen{
		Name: u.name, Level: r.Meta.IsolationLevel, Isolation: r.Meta.Isolation, Enforcement: r.Meta.ResourceLimits.Enforcement,
		Ends: map[string]map[string]int{}, refusal: map[string]bool{}, user: u,
	}
}

func (s *seen) refused(name, lang string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refusal[name+"/"+lang] = true
}

// add notes how a case has ended.
func (s *seen) add(t *testing.T, name, lang string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Ends[lang] == nil {
		s.Ends[lang] = map[string]int{}
	}
	end := "passed"
	switch {
	case t.Failed():
		end = "failed"
	case t.Skipped():
		end = "skipped"
	case s.refusal[name+"/"+lang]:
		end = "refused"
	}
	s.Ends[lang][end]++
}

// write leaves the figures for the table.
func (s *seen) write(t *testing.T) {
	if *seenDir == "" || t.Skipped() {
		return
	}
	s.measure(t)
	text, err := json.MarshalIndent(s, "", "\t")
	if err == nil {
		err = os.WriteFile(filepath.Join(*seenDir, s.Name+".json"), text, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// measure takes the figures when nothing else runs.
func (s *seen) measure(t *testing.T) {
	hello := []string{"--lang", "python", "--code", "print(6*7)", "-q"}
	var took []time.Duration
	for range 21 {
		took = append(took, invocation{user: s.user, args: hello}.run(t).took)
	}
	slices.Sort(took)
	s.Hello = took[len(took)/2]
	before := processes()
	done := make(chan struct{})
	go func() {
		defer close(done)
		invocation{user: s.user, args: []string{"--lang", "python", "--code", "import time; time.sleep(6)", "-q"}}.run(t)
	}()
	time.Sleep(4 * time.Second)
	for pid, memory := range processes() {
		if _, old := before[pid]; !old {
			s.Idle += memory
		}
	}
	<-done
}

var pss = regexp.MustCompile(`(?m)^Pss:\s+(\d+) kB$`)

// processes are those of this machine, with their share of memory in bytes.
func processes() map[string]int64 {
	list := map[string]int64{}
	names, _ := filepath.Glob("/proc/[0-9]*/smaps_rollup")
	for _, name := range names {
		text, err := os.ReadFile(name)
		if match := pss.FindSubmatch(text); err == nil && match != nil {
			kb, _ := strconv.ParseInt(string(match[1]), 10, 64)
			list[filepath.Dir(name)] = kb << 10
		}
	}
	return list
}

// TestRuntimesTable writes the table of runtimes from what the verdicts have shown.
func TestRuntimesTable(t *testing.T) {
	if *tablePage == "" {
		t.Skip("make test-runtimes writes the table")
	}
	text, err := os.ReadFile(*tablePage)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- written by make test-runtimes: begin -->\n", "<!-- end -->"
	head, rest, found := strings.Cut(string(text), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatalf("%s has no place for the table", *tablePage)
	}
	page := head + begin + table(t) + end + tail
	if err := os.WriteFile(*tablePage, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
}

// table has a column for each runtime.
func table(t *testing.T) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(*seenDir, "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing was seen: %v", err)
	}
	var all []*seen
	for _, name := range names {
		s := &seen{}
		text, err := os.ReadFile(name)
		if err == nil {
			err = json.Unmarshal(text, s)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	order := []string{"root", "ordinary", "crun", "runc", "runsc", "docker", "podman", "remote", "e2b"}
	slices.SortFunc(all, func(a, b *seen) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	var b strings.Builder
	row := func(what string, cell func(*seen) string) {
		b.WriteString("| " + what + " |")
		for _, s := range all {
			b.WriteString(" " + cell(s) + " |")
		}
		b.WriteString("\n")
	}
	title := map[string]string{"root": "`local`, root", "ordinary": "`local`, user"}
	row("", func(s *seen) string {
		if title[s.Name] != "" {
			return title[s.Name]
		}
		return s.Name
	})
	b.WriteString("|---" + strings.Repeat("|---", len(all)) + "|\n")
	row("isolation", func(s *seen) string { return s.Level })
	row("hello in Python, whole process, median of 21", func(s *seen) string { return fmt.Sprintf("%d ms", s.Hello.Milliseconds()) })
	row("memory while a Python program sleeps", func(s *seen) string { return fmt.Sprintf("%d MiB", s.Idle>>20) })
	for _, lang := range []string{"python", "javascript", "go", "rust", "java"} {
		row("verdicts in "+lang, func(s *seen) string { return s.ends(lang) })
	}
	row("verdicts in other languages", func(s *seen) string { return s.ends("typescript", "bash", "c", "cpp", "ruby", "perl", "php", "lua") })
	rows(all, "wall", func(s *seen) map[string]string { return s.Isolation }, row)
	rows(all, "limit", func(s *seen) map[string]string { return s.Enforcement }, row)
	return b.String()
}

// rows is a row for each name that any runtime has.
func rows(all []*seen, kind string, of func(*seen) map[string]string, row func(string, func(*seen) string)) {
	names := map[string]bool{}
	for _, s := range all {
		for name := range of(s) {
			names[name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		row(kind+": "+name, func(s *seen) string {
			if state := of(s)[name]; state != "" {
				return state
			}
			return "—"
		})
	}
}

// ends is how the cases of some languages ended.
func (s *seen) ends(languages ...string) string {
	sum := map[string]int{}
	for _, lang := range languages {
		for end, n := range s.Ends[lang] {
			sum[end] += n
		}
	}
	cell := fmt.Sprintf("%d of %d", sum["passed"], sum["passed"]+sum["failed"]+sum["refused"])
	if n := sum["refused"]; n > 0 {
		cell += fmt.Sprintf(", %d refused", n)
	}
	if n := sum["skipped"]; n > 0 {
		cell += fmt.Sprintf(" (%d left out)", n)
	}
	return cell
}
