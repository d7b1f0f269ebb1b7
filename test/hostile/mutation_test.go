package hostile

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var (
	mutations = flag.Bool("mutations", false, "leave out one guard after the other, and see which rows notice; for root")
	guardOnly = flag.String("guard", "", "leave out the guards alone whose names these are, separated by commas")
)

// TestGuards holds the words that rows name their guards with against the mutations:
// each guard can be left out, and each one that is left out is named by a row.
func TestGuards(t *testing.T) {
	named := map[string]bool{}
	for _, r := range everyRow(t) {
		for _, g := range r.guards {
			named[g] = true
			if !slices.ContainsFunc(guards(), func(m mutation) bool { return m.guard == g }) {
				t.Errorf("%s names the guard %s, which no mutation leaves out", r.name, g)
			}
		}
	}
	for _, m := range guards() {
		if !named[m.guard] && len(m.rows) == 0 {
			t.Errorf("no row names the guard %s", m.guard)
		}
		for _, name := range m.rows {
			if !strings.HasPrefix(name, "Test") && !slices.ContainsFunc(everyRow(t), func(r row) bool { return r.name == name }) {
				t.Errorf("the guard %s: there is no row %s", m.guard, name)
			}
		}
	}
}

// TestRules holds the rules of the system call filter that refuse against the mutations:
// each one is left out or is silent, and of each that is there is a rule.
func TestRules(t *testing.T) {
	whys := map[string]bool{"default": true, "other interfaces": true} // which are no rules
	for bits := range 1 << 7 {
		on := func(n int) bool { return bits>>n&1 == 1 }
		opts := seccomp.Options{Inet: on(0), NoUDP: on(1), Supervised: on(2), Restricted: on(3), TruncationUnwatched: on(4), AllowAffinity: on(5), OneUser: on(6)}
		for opts.Attributes = range seccomp.AttributesRefused + 1 {
			for _, r := range seccomp.Default(opts).Rules {
				if _, fails := r.Action.Errno(); fails {
					whys[r.Why] = true
				}
			}
		}
	}
	told := map[string]int{} // of each entry, how many rules it is about
	for pattern := range silent() {
		told[pattern] = 0
	}
	for _, m := range rules() {
		told[strings.TrimPrefix(m.off, "seccomp:")] = 0
	}
	for why := range whys {
		var by []string
		for pattern := range told {
			if begin, more := strings.CutSuffix(pattern, "*"); why == pattern || more && strings.HasPrefix(why, begin) {
				by = append(by, pattern)
				told[pattern]++
			}
		}
		if len(by) != 1 {
			t.Errorf("the rule %q is meant by %q of rules() and silent(), want one of them", why, by)
		}
	}
	for pattern, n := range told {
		if n == 0 {
			t.Errorf("there is no rule %q", pattern)
		}
	}
}

// TestHello is whether anything runs at all, which each asks for afterwards.
func TestHello(t *testing.T) {
	each(t, "hello", "A hello.", func(*testing.T, *combination) {})
}

func everyRow(t *testing.T) (all []row) {
	t.Helper()
	for _, dir := range []string{"rows", "rows/channels"} {
		some, err := rows(dir)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	return all
}

// outcome is what came of a mutation.
type outcome struct {
	mutation
	tried, red []string
	starts     bool   // whether anything runs
	sight      string // what the look from inside says: yes where it sees that the guard is missing
}

// TestMutations is the test of the tests: without its guard a row must fail, and with
// it the same row in the same world must not. It runs in a world of its own, since
// without its guard a row is also an attack.
func TestMutations(t *testing.T) {
	if !*mutations {
		t.Skip("make mutations leaves out the guards")
	}
	b := build(t)
	for _, place := range places {
		if green, _ := b.run(t, mutation{place: place}, []string{"hello"}); !slices.Contains(green, "TestHello") {
			t.Fatalf("nothing starts at %s in a world with all guards, so it would be no wonder without one", place)
		}
	}
	seen := map[string][]outcome{}
	for _, m := range guards() {
		if *guardOnly != "" && !slices.Contains(strings.Split(*guardOnly, ","), m.guard) && !slices.Contains(strings.Split(*guardOnly, ","), m.off) {
			continue
		}
		t.Run(m.place+"/"+m.guard+"/"+m.off, func(t *testing.T) {
			seen[m.place] = append(seen[m.place], b.leaveOut(t, m))
		})
	}
	var lines []string
	for _, place := range places {
		var red []string
		for _, o := range seen[place] {
			red = append(red, o.red...)
		}
		slices.Sort(red)
		broken := b.broken(t, place, slices.Compact(red))
		for _, o := range seen[place] {
			o.red = slices.DeleteFunc(o.red, func(name string) bool { return slices.Contains(broken, name) })
			if dead := slices.Equal(o.rows, nothing); o.starts == dead {
				t.Errorf("without %s (%s) at %s programs start: %v, which is not expected", o.guard, o.off, place, o.starts)
			}
			if o.starts && len(o.red) == 0 {
				t.Errorf("without %s (%s) at %s no row fails, of %v", o.guard, o.off, place, o.tried)
			}
			lines = append(lines, o.String())
		}
	}
	t.Log("\n" + strings.Join(lines, "\n"))
	if *table == "" {
		return
	}
	lines = append(lines, kept(*table, seen)...)
	slices.Sort(lines)
	if err := os.WriteFile(*table, []byte(page+strings.Join(lines, "\n")+"\n"+notMissed()), 0o644); err != nil {
		t.Error(err)
	}
}

// kept are the lines of an earlier table about what was not left out this time.
func kept(table string, seen map[string][]outcome) (lines []string) {
	text, err := os.ReadFile(table)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		told := func(m mutation) bool { return strings.HasPrefix(line, m.String()) }
		again := slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(seen))...), func(o outcome) bool { return told(o.mutation) })
		if !again && slices.ContainsFunc(guards(), told) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// String begins the mutation's line of the table.
func (m mutation) String() string {
	return fmt.Sprintf("| %s | %s | `%s` |", m.guard, m.place, strings.ReplaceAll(m.off, ";", "`, `"))
}

// page is what stands above the table.
const page = `# Without the walls

What [SECURITY.md](SECURITY.md) calls a wall must be missed when it is gone. ` + "`make mutations`" + ` leaves
out one guard after the other, in a world of its own, and runs the hostile programs of
` + "`test/hostile`" + ` that are there for it: some must get through. With every guard in place
none of these does, in the same world. This page is what it wrote, as root.

* **Where** is the isolation, of a server that is root, or an ordinary user where it says so.
* **Left out** is a step by which a container or a program is made, a file of a control
  group, a rule of the system call filter by its reason, or a check of ours.
* **Who notices** are rows of ` + "`test/hostile/rows`" + `, or tests beside them. Those that were tried and
  do not notice have met a second wall: another guard, or the limits of that world, which has
  6 GiB of memory and 4000 processes.
* **Nothing starts** where the kernel itself does not go on without.
* **Seen from inside**: ` + "`sandbox-run doctor --posture`" + ` names what is not as it should be, and a
  server does not start. A dash stands where there is no inside.

| guard | where | left out | who notices, of those tried | seen from inside |
|---|---|---|---|---|
`

// notMissed says what no row can miss, and what is not left out.
func notMissed() string {
	var b strings.Builder
	b.WriteString("\n## What no row can miss\n\nRules of the system call filter, by the beginning of their reasons, and what stands behind each of them:\n\n")
	for _, pattern := range slices.Sorted(maps.Keys(silent())) {
		fmt.Fprintf(&b, "* `%s`: %s.\n", pattern, silent()[pattern])
	}
	b.WriteString("\n" + notLeftOut)
	return b.String()
}

const notLeftOut = `Of the walls these are not left out: init cannot be looked at (` + "`PR_SET_DUMPABLE`" + `), whose user is another than
the programs' besides; it ends with its spawner (` + "`PR_SET_PDEATHSIG`" + `), which the crashes of ` + "`test/crash`" + ` show; programs begin
in a session of their own and with our umask, which the look from inside compares; a server that is an ordinary user's has at
` + "`full`" + ` the rules and limits that root's has, and only its users are others. Of the server's own checks: how many runs it
takes, floods of HTTP/2 (which are Go's), how long arguments are, and what is written into logs and metrics. The compilers'
caches that all share are guarded by what guards all files (` + "`overlay`, `readonly`" + `); programs in Go that attack them are tried
with every guard in place alone, since each world would compile Go's library anew. Guards of other runtimes than ` + "`local`" + ` are
their own.
`

// shown is how many rows a line names.
const shown = 5

func (o outcome) String() string {
	names := strings.Join(o.red[:min(shown, len(o.red))], ", ")
	if more := len(o.red) - shown; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	rows := fmt.Sprintf("%d of %d: %s", len(o.red), len(o.tried), names)
	if !o.starts {
		rows = "nothing starts"
	}
	return fmt.Sprintf("%s %s | %s |", o.mutation, rows, o.sight)
}

// broken are those of the rows that fail with every guard in place: what they say
// without one says nothing.
func (b binaries) broken(t *testing.T, place string, names []string) []string {
	t.Helper()
	if len(names) == 0 {
		return nil
	}
	_, red := b.run(t, mutation{place: place}, names)
	for _, name := range red {
		t.Errorf("%s fails at %s in a world with all guards", name, place)
	}
	return red
}

// leaveOut runs the rows of a guard without it.
func (b binaries) leaveOut(t *testing.T, m mutation) outcome {
	t.Helper()
	o := outcome{mutation: m}
	names := m.rows
	if len(names) == 0 {
		for _, r := range everyRow(t) {
			words := []string{"local", m.level(), m.user(), r.cheapest()}
			if r.cheapest() == "go" { // whose library would be compiled in each world: a minute
				continue
			}
			if slices.Contains(r.guards, m.guard) && r.able(words) && r.field("skip", words) == "" {
				names = append(names, r.name)
			}
		}
	}
	look := b.world(m, 2*time.Minute, "sandbox-run", "doctor", "--posture")
	if m.user() != "root" {
		look.Args = slices.Insert(look.Args, slices.Index(look.Args, "./world.sh")+1, "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env", "HOME=/tmp", "XDG_RUNTIME_DIR=/tmp")
	}
	said, err := look.CombinedOutput()
	green, red := b.run(t, m, append([]string{"hello"}, names...))
	o.starts = slices.Contains(green, "TestHello")
	switch faults, broken := strings.Contains(string(said), "not as it should be:"), strings.Contains(string(said), "look at the posture of a sandbox:"); {
	case err == nil:
		o.sight = "no"
	case look.ProcessState.ExitCode() == 125 && (faults || broken && o.starts): // the exit code of what is ours
		o.sight = "yes"
	case !o.starts:
		o.sight = "–"
	default:
		t.Errorf("the look from inside: %v\n%.2000s", err, said)
	}
	o.tried = slices.DeleteFunc(slices.Concat(green, red), func(name string) bool { return name == "TestHello" })
	o.red = slices.DeleteFunc(red, func(name string) bool { return name == "TestHello" })
	slices.Sort(o.red)
	t.Log(o)
	return o
}

// binaries is a directory of the programs that can be broken, and of these tests.
type binaries string

// build makes them, unless a variable names a directory that has the programs.
func build(t *testing.T) binaries {
	t.Helper()
	if dir := os.Getenv("SANDBOX_TEST_FAULT"); dir != "" {
		return binaries(dir)
	}
	dir := filepath.Join("/var/tmp", filepath.Base(work)) // /tmp is the world's own
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for _, name := range []string{"sandbox-run", "sandbox-server"} {
		if _, err := testenv.Faulty(dir, name); err != nil {
			t.Fatal(err)
		}
	}
	if content, err := os.ReadFile("/proc/self/exe"); err != nil {
		t.Fatal(err)
	} else if err := os.WriteFile(filepath.Join(dir, "hostile.test"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	return binaries(dir)
}

// verdicts are lines of go test about a row, or about a test that is no table of rows.
var verdicts = regexp.MustCompile(`^(?:    --- (PASS|FAIL): (?:TestRows|TestChannels)/(\S+)|--- (PASS|FAIL): (Test\w+)) \(`)

// run runs rows and tests in a world without a guard: all in one, so that it is
// made once. What has no verdict was skipped, or never came to its turn.
func (b binaries) run(t *testing.T, m mutation, names []string) (green, red []string) {
	t.Helper()
	tests := []string{"TestHello", "TestRows", "TestChannels"}
	for _, name := range names {
		if strings.HasPrefix(name, "Test") {
			tests = append(tests, name)
		}
	}
	cmd := b.world(m, 20*time.Minute, "hostile.test", "-test.v", "-test.run", "^("+strings.Join(tests, "|")+")$", "-row", strings.Join(names, ","),
		"-patience", "10s", "-combination", "local "+m.level()+" "+m.user())
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Logf("%v", err)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "_test.go:") {
			t.Logf("%.300s", strings.TrimSpace(line))
		}
		v := verdicts.FindStringSubmatch(line)
		if v == nil || v[4] == "TestRows" || v[4] == "TestChannels" {
			continue
		}
		if name := cmp.Or(v[2], v[4]); cmp.Or(v[1], v[3]) == "PASS" {
			green = append(green, name)
		} else {
			red = append(red, name)
		}
	}
	return green, red
}

// world is a command in a world of its own, without a guard. The server does not look
// from inside when it starts, or it would not start.
func (b binaries) world(m mutation, limit time.Duration, program string, args ...string) *exec.Cmd {
	off := m.off
	if program != "sandbox-run" {
		off = "posture:*;" + off
	}
	cmd := exec.Command("timeout", append([]string{"-k", "10", fmt.Sprint(limit.Seconds()), "./world.sh", filepath.Join(string(b), program)}, args...)...)
	cmd.Env = append(os.Environ(), "SANDBOX_TEST_SERVER="+filepath.Join(string(b), "sandbox-server"), "SANDBOX_ISOLATION="+m.level(), "FAULT_OFF="+off)
	return cmd
}
