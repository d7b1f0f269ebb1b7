package hostile

import (
	"context"
	"encoding/json"
	"errors"
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

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// hello is what every language must still be able to say after each row.
var hello = map[string]string{
	"bash":       "echo hello",
	"python":     "print('hello')",
	"javascript": "console.log('hello')",
	"typescript": "const word: string = 'hello'; console.log(word)",
	"c":          "#include <stdio.h>\nint main(void) { puts(\"hello\"); }",
	"cpp":        "#include <iostream>\nint main() { std::cout << \"hello\\n\"; }",
	"go":         "package main\n\nfunc main() { println(\"hello\") }",
	"rust":       "fn main() { println!(\"hello\") }",
	"ruby":       "puts 'hello'",
	"perl":       "print \"hello\\n\";",
	"php":        "<?php echo \"hello\\n\";",
	"lua":        "print('hello')",
	"java":       "class Main { public static void main(String[] a) { System.out.println(\"hello\"); } }",
}

// TestRows runs the rows. After each, the machine is what it was, the language says
// hello, and the run next door has noticed nothing.
func TestRows(t *testing.T) {
	all, err := rows("rows")
	if err != nil {
		t.Fatal(err)
	}
	tools := hashes(t)
	for i, r := range all {
		if !r.wanted() {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			for _, v := range variants(t, r, i) {
				t.Run(v.combination.String()+"/"+v.lang, func(t *testing.T) { v.run(t) })
			}
		})
	}
	if now := hashes(t); !maps.Equal(now, tools) { // I11
		t.Errorf("programs of the host are %v, before %v", now, tools)
	}
}

// variant is a row in one language on one combination.
type variant struct {
	row         row
	lang        string
	combination *combination
}

// variants are those of a row that are asked for: all, or one whose level and user
// differ from those of the row before, and that the row does not skip. All are every
// language with local, and elsewhere the cheapest: the walls are the same for each.
func variants(t *testing.T, r row, turn int) (found []variant) {
	t.Helper()
	defer func() { found = slices.DeleteFunc(found, journal.settled) }()
	able := slices.DeleteFunc(slices.Clone(combinations()), func(c *combination) bool { return !r.able(c.words()) })
	if len(able) == 0 {
		return nil
	}
	lang := r.cheapest()
	if !*allOf {
		for i := range able {
			c := able[(turn+i)%len(able)]
			if r.field("skip", append(c.words(), lang)) == "" && c.speaks(t, lang) {
				return []variant{{r, lang, c}}
			}
		}
		return []variant{{r, lang, able[0]}} // which says why it is skipped
	}
	for _, c := range able {
		for _, l := range languages {
			if r.mains[l.name] != "" && (c.runtime == "local" || l.name == lang) {
				found = append(found, variant{r, l.name, c})
			}
		}
	}
	return found
}

func (v variant) String() string {
	return fmt.Sprintf("%s, %s, %s", v.row.name, v.combination, v.lang)
}

func (v variant) words() []string { return append(v.combination.words(), v.lang) }

func (v variant) run(t *testing.T) {
	s := &sight{variant: v}
	defer s.add(t)
	if s.Skipped = v.row.field("skip", v.words()); s.Skipped != "" {
		t.Skip(s.Skipped)
	}
	c := v.combination
	c.start(t)
	c.warm(t, v.lang)
	path, err := canary()
	if err != nil {
		t.Fatal(err)
	}
	req, err := v.row.asked(v.lang, map[string]string{
		"CANARY": path, "CACHE": filepath.Join(c.data(), "cache/build"), "PORT": c.server.URL[strings.LastIndex(c.server.URL, ":")+1:], "PID": fmt.Sprint(c.server.Cmd.Process.Pid),
		"NAMESPACES": strings.Join(namespaces(c.server.Cmd.Process.Pid), " ")})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(v.expected(), string(api.StatusTimeout)) {
		req.TimeoutSeconds *= *slow
	}
	if *ready {
		c.prepare(t, v.lang, req)
	}
	neighbour := c.neighbour(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Duration(req.TimeoutSeconds*float64(time.Second))+*extra)
	defer cancel()
	begin := time.Now()
	r, err := c.client.Execute(ctx, req)
	took := time.Since(begin)
	s.NextTo = times(neighbour(), c.ticks)
	if noTool(err) { // a compiler is here, and what it builds projects with is not
		t.Skipf("no toolchain of %s for this user: %v", v.lang, err)
	}
	if err != nil {
		t.Fatalf("no result after %v: %v", took, err)
	}
	s.Ready = r.Meta.Warm
	s.undivided = r.Meta.ResourceLimits.Enforcement["cpu"] == api.Degraded
	s.Late = r.ExecutionTime - req.TimeoutSeconds
	// Which no request lengthens.
	tooSlow := *slow > 1 && r.Status == api.StatusTimeout && r.Limit != nil && r.Limit.Phase == api.PhaseCompile
	if !tooSlow {
		v.judge(t, r, req, took)
	}
	s.Hello = c.greetsSoon(t, v.lang)
	c.check(t)
	v.disturbed(t, s)
	if tooSlow && !t.Failed() {
		t.Skip("it was not compiled in time, on a processor that is emulated; the machine is as it was")
	}
}

// disturbed fails when the run next door, or a hello afterwards, took much longer than on a machine
// that does nothing else. With the tests of other packages beside it nobody can tell.
func (v variant) disturbed(t *testing.T, s *sight) {
	t.Helper()
	if !*allOf || v.combination.sharesUser() { // whose processes are counted together
		return
	}
	nextTo := float64(slower)
	if s.undivided {
		nextTo = crowded
	}
	for _, m := range []struct {
		what      string
		took, may float64
	}{{"a hello afterwards", s.Hello, slower}, {"the run next door", s.NextTo, nextTo}} {
		if m.took > m.may {
			t.Errorf("%s took %.1f times what it takes, more than %v", m.what, m.took, m.may)
		}
	}
}

// How many times as long a run may take beside a hostile one, or after it; and beside one that
// has many busy processes where no control group divides the cores: each step of it waits for
// its turn among them.
const slower, crowded = 2, 5

// times is how many times as long something took, without what passes for noise.
func times(took, before time.Duration) float64 {
	const noise = 100 * time.Millisecond
	return max(took-noise, before).Seconds() / before.Seconds()
}

// expected are the ends that are as they should be.
func (v variant) expected() []string {
	if want := strings.Fields(v.row.field("expect", v.words())); len(want) > 0 {
		return want
	}
	return []string{string(api.StatusOK)}
}

// judge holds a result against what the row expects.
func (v variant) judge(t *testing.T, r *api.Result, req api.Request, took time.Duration) {
	t.Helper()
	want := v.expected()
	if !slices.Contains(want, string(r.Status)) {
		t.Errorf("status %s, expected %s", r.Status, strings.Join(want, " or "))
	}
	stdout := v.row.field("stdout", v.words())
	if stdout == "" && slices.Equal(want, []string{string(api.StatusOK)}) {
		stdout = `^done\n$` // what did work would be said before
	}
	whole, _ := json.Marshal(r)
	for _, m := range []struct{ what, pattern, got string }{
		{"stdout", stdout, r.Stdout}, {"stderr", v.row.field("stderr", v.words()), r.Stderr}, {"result", v.row.field("result", v.words()), string(whole)}} {
		if m.pattern != "" && !regexp.MustCompile(m.pattern).MatchString(m.got) {
			t.Errorf("%s %.2000q does not match %s", m.what, m.got, m.pattern)
		}
	}
	inTime(t, r, req, took)
	if t.Failed() {
		figures, _ := json.Marshal(r.Metrics)
		t.Logf("after %v: message %q, exit code %d, signal %q, limit %+v, warnings %q\nfigures: %s\nstdout: %.2000s\nstderr: %.2000s",
			took, r.Message, r.ExitCode, r.Signal, r.Limit, r.Meta.Warnings, figures, r.Stdout, r.Stderr)
	}
}

// grace is how late a verdict may come, and busyGrace that on a machine that is busy with the tests
// of other packages as well. beside is what a run may take without its phases: a container of an
// engine takes seconds to make, and a hundred thousand files of a row as many to remove.
const grace, busyGrace, beside = time.Second, 5 * time.Second, 20 * time.Second

// inTime fails when a phase has outlived its limit, which no program can do, or when what
// is around the phases did not end.
func inTime(t *testing.T, r *api.Result, req api.Request, took time.Duration) {
	t.Helper()
	whole, late := beside, busyGrace
	if *allOf {
		late = grace
	}
	for _, p := range r.Phases {
		limit := config.Default().CompileTimeout // which no setting changes
		if p.Name == api.PhaseRun {
			limit = time.Duration(req.TimeoutSeconds * float64(time.Second))
		}
		var wall time.Duration
		if s := p.Metrics.WallTimeS; s != nil {
			wall = time.Duration(*s * float64(time.Second))
		}
		if wall > limit+late {
			t.Errorf("the phase %s took %v with a limit of %v", p.Name, wall, limit)
		}
		whole += wall
	}
	if took > whole {
		t.Errorf("the whole took %v, %v of it beside its phases", took, took-whole+beside)
	}
}

// warm has a language run once, so that what is made at the first run of it is there,
// and remembers how the machine looks.
func (c *combination) warm(t *testing.T, lang string) {
	t.Helper()
	if c.gauges == nil {
		c.gauges = map[string]int{}
	}
	if c.warmed[lang] {
		return
	}
	if c.warmed == nil {
		c.warmed, c.hellos = map[string]bool{}, map[string]time.Duration{}
	}
	if c.going != nil { // it would be a part of what the machine looks like
		c.going()
		defer c.begin()
	}
	taken := roomTaken()
	if _, err := c.client.Execute(t.Context(), api.Request{Language: lang, Code: hello[lang]}); noTool(err) {
		t.Skipf("no toolchain of %s for this user: %v", lang, err)
	}
	c.greets(t, lang)
	c.hellos[lang] = 0
	for range figures(3) {
		c.hellos[lang] = max(c.hellos[lang], c.greets(t, lang))
	}
	c.warmed[lang] = true
	for range figures(2) {
		c.ticks = c.neighbour(t)()
	}
	// What the runs have left behind in going is gone when two looks are the same.
	c.idle, c.clock = c.look(), clock()
	testenv.Within(3*time.Second, func() bool {
		time.Sleep(200 * time.Millisecond)
		now := c.look()
		same := maps.Equal(now, c.idle)
		c.idle = now
		return same
	})
	// What is kept from now on, as by an engine, is nothing that the next row of another has left.
	taken = (roomTaken() - taken) >> 20
	for _, other := range combinations() {
		if before, err := strconv.ParseInt(other.idle[room], 10, 64); err == nil && other != c && taken > 0 {
			other.idle[room] = fmt.Sprint(before + taken)
		}
		// Some keep things in the same place.
		if _, looked := other.idle["build caches"]; looked && other.data() == c.data() {
			other.idle["build caches"] = caches(filepath.Join(c.data(), "cache/build"))
		}
	}
	for name := range spares {
		c.gauges[name] = c.gauge(name)
	}
	for name, figure := range c.gauges {
		if figure < 0 {
			t.Fatalf("the server does not say its %s, so nothing would be seen of it", name)
		}
	}
	if c.idle["message queues"] == "-1" {
		t.Fatal("message queues cannot be counted, so nothing would be seen of them")
	}
}

// figures is how often something is done to tell how long it takes: once where nobody asks for that.
func figures(n int) int {
	if *allOf {
		return n
	}
	return 1
}

// noTool tells whether a request was refused because a language is not here, or what it builds its
// projects with.
func noTool(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && (refused.Problem.Type == client.TypeLanguage || strings.Contains(refused.Problem.Detail, "is a project for cargo, which"))
}

// prepare asks for what a request asks for, with a hello in the place of its program, until a
// container was ready for it, and waits for the next one as long as that has taken. For some there
// never is one.
func (c *combination) prepare(t *testing.T, lang string, like api.Request) {
	t.Helper()
	if c.sharesUser() {
		return // what waits would be counted for those that run: none does
	}
	like.Files = maps.Clone(like.Files)
	like.Files[like.Entry] = api.InputFile{Content: hello[lang]}
	like.Args, like.Stdin, like.Collect = nil, "", nil
	for pause := 100 * time.Millisecond; pause < 2*time.Second; pause *= 2 {
		r, err := c.client.Execute(t.Context(), like)
		if err != nil {
			t.Fatalf("hello before: %v", err)
		}
		time.Sleep(pause)
		if r.Meta.Warm || r.Status != api.StatusOK { // what else is there is hostile as well
			break
		}
	}
}

// greetsSoon tells how many times as long as before a hello takes: of a few, the quickest.
func (c *combination) greetsSoon(t *testing.T, lang string) (least float64) {
	t.Helper()
	for range figures(3) {
		if now := times(c.greets(t, lang), c.hellos[lang]); least == 0 || now < least {
			least = now
		}
		if least <= slower {
			break
		}
	}
	return least
}

// greets fails when the language does not say hello any more, and tells how long that took.
func (c *combination) greets(t *testing.T, lang string) (took time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	begin := time.Now()
	r, err := c.client.Execute(ctx, api.Request{Language: lang, Code: hello[lang]})
	if err != nil {
		t.Fatalf("hello afterwards: %v", err)
	}
	if r.Status != api.StatusOK || strings.TrimSpace(r.Stdout+r.Stderr) != "hello" {
		t.Errorf("hello afterwards: status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
	}
	return time.Since(begin)
}

// neighbour has another tenant's short runs go on, one after the other, until what it returns is
// called: it fails when one of them was disturbed, and tells how long they took, the median.
func (c *combination) neighbour(t *testing.T) (stop func() time.Duration) {
	t.Helper()
	const script = "echo $1 > own; for i in 1 2 3 4 5; do sleep $2; echo tick $i; done; cat own"
	pause := "0.05"
	if !*allOf { // nobody asks how long it took, and every row waits for the end of one
		pause = "0.005"
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	var took []time.Duration
	running.Go(func() {
		for n := 0; n == 0 || ctx.Err() == nil; n++ {
			token := fmt.Sprintf("token-%d-%d", os.Getpid(), n)
			begin := time.Now()
			r, err := c.nextTo.Execute(t.Context(), api.Request{Language: "bash", Code: script, Args: []string{token, pause}})
			took = append(took, time.Since(begin))
			if err != nil {
				t.Errorf("the run next door: %v", err)
				return
			}
			if want := "tick 1\ntick 2\ntick 3\ntick 4\ntick 5\n" + token + "\n"; r.Status != api.StatusOK || r.Stdout != want || r.Stderr != "" {
				t.Errorf("the run next door: status %s, %s, stdout %q, stderr %q", r.Status, r.Message, r.Stdout, r.Stderr)
			}
		}
	})
	return func() time.Duration {
		cancel()
		running.Wait()
		slices.Sort(took)
		return took[len(took)/2]
	}
}
