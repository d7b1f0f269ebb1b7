package executor

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// compiling is an executor whose C compiler counts how often it was started, makes a
// program and warns, and whose programs say what they are.
type compiling struct {
	*Executor
	rt    *fakeRuntime
	calls int
}

func newCompiling(t *testing.T, change func(*Config)) *compiling {
	t.Helper()
	c := &compiling{rt: &fakeRuntime{}}
	c.rt.program = func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
		build := r.container.trees[sandbox.BuildDir]
		if p.Args[0] == sandbox.BuildDir+"/main" {
			f := build.names["main"]
			return says(fmt.Sprintf("%s %v", f.content, f.Mode), "", 0)(p, r)
		}
		c.calls++
		source := r.container.trees[sandbox.WorkspaceDir].names["main.c"].content
		if strings.Contains(string(source), "wrong") {
			return says("", "main.c:1: error", 1)(p, r)
		}
		build.put("main", append([]byte("program of "), source...), 0o755)
		build.put("notes", nil, 0o644)
		if strings.Contains(string(source), "generates") {
			r.container.trees[sandbox.WorkspaceDir].put("table", []byte("1"), 0o644)
		}
		if strings.Contains(string(source), "many") {
			for i := range maxKeptNames {
				build.put(fmt.Sprint(i), nil, 0o644)
			}
		}
		if strings.Contains(string(source), "link") {
			build.put("link", nil, fs.ModeSymlink|0o777)
		}
		return says("", "main.c:1: warning", 0)(p, r)
	}
	cfg := DefaultConfig()
	cfg.Host, cfg.DataDir, cfg.CompiledBytes = fakeGCC(t), t.TempDir(), 8<<20
	if change != nil {
		change(&cfg)
	}
	c.Executor = New(c.rt, cfg)
	return c
}

// run tells whether the compiler was started.
func (c *compiling) run(t *testing.T, req Request) (res *api.Result, compiled bool) {
	t.Helper()
	before := c.calls
	if req.Language == "" {
		req.Language = "c"
	}
	if req.Code == nil {
		req.Code = []byte("source")
	}
	res, err := c.Run(t.Context(), req, nil)
	if err != nil {
		t.Fatal(err)
	}
	compiled = c.calls > before
	if res.Meta.CachedCompile == compiled {
		t.Errorf("compiled %v, and the result says %v", compiled, res.Meta.CachedCompile)
	}
	return res, compiled
}

// What was compiled once is run again, with the same words of the compiler.
func TestCompiledBefore(t *testing.T) {
	c := newCompiling(t, nil)
	first, _ := c.run(t, Request{})
	second, compiled := c.run(t, Request{Args: []string{"other"}, Env: map[string]string{"A": "b"}, Limits: sandbox.Limits{MemoryBytes: 64 << 20}})
	if compiled {
		t.Error("it was compiled again")
	}
	for _, res := range []*api.Result{first, second} {
		if res.Status != api.StatusOK || res.Stdout != "program of source -rwxr-xr-x" || len(res.Phases) != 2 ||
			res.Phases[0].Status != api.StatusOK || res.Phases[0].Stderr != "main.c:1: warning" || res.Phases[0].ExitCode != 0 {
			t.Errorf("%+v", res)
		}
	}
	if m := second.Phases[0].Metrics; m.WallTimeS != nil || m.CPUTimeS != nil {
		t.Errorf("figures of a compiler that did not run: %+v", m)
	}
	if _, compiled := c.run(t, Request{Recompile: true}); !compiled {
		t.Error("asked to compile, it does not")
	}
	c.rt.checkDeleted(t)
}

// Whatever may make a difference does.
func TestCompiledOfOther(t *testing.T) {
	for name, change := range map[string]func(c *compiling, req *Request){
		"other source":    func(_ *compiling, req *Request) { req.Code = []byte("source ") },
		"another file":    func(_ *compiling, req *Request) { req.Files = map[string]InputFile{"a.h": {}} },
		"another tenant":  func(_ *compiling, req *Request) { req.Tenant = "b" },
		"another level":   func(_ *compiling, req *Request) { req.Isolation = sandbox.LevelRestricted },
		"another gcc":     func(c *compiling, _ *Request) { touch(c, filepath.Join(c.cfg.Host.Path[0], "gcc")) },
		"a day later":     func(c *compiling, _ *Request) { c.each(func(name string) { age(name, 25*time.Hour) }) },
		"a damaged file":  func(c *compiling, _ *Request) { c.each(flip) },
		"a shorter file":  func(c *compiling, _ *Request) { c.each(func(name string) { _ = os.Truncate(name, 40) }) },
		"an empty file":   func(c *compiling, _ *Request) { c.each(func(name string) { _ = os.Truncate(name, 0) }) },
		"another's file":  func(c *compiling, _ *Request) { c.each(func(name string) { swap(c, name) }) },
		"a full data dir": func(c *compiling, _ *Request) { c.each(func(name string) { _ = os.Remove(name) }) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCompiling(t, nil)
			c.run(t, Request{})
			req := Request{Code: []byte("source")}
			change(c, &req)
			if _, compiled := c.run(t, req); !compiled {
				t.Fatal("it was not compiled")
			}
			if _, compiled := c.run(t, req); compiled {
				t.Error("it was compiled a third time")
			}
		})
	}
}

func (c *compiling) each(do func(name string)) {
	names, _ := filepath.Glob(filepath.Join(c.artefacts.dir, "*"))
	for _, name := range names {
		do(name)
	}
}

func touch(c *compiling, name string) {
	age(name, -time.Hour)
	c.found = found{} // which else is believed for some seconds
}

func age(name string, by time.Duration) {
	then := time.Now().Add(-by)
	_ = os.Chtimes(name, then, then)
}

// flip changes the last byte of a file.
func flip(name string) {
	content, _ := os.ReadFile(name)
	content[len(content)-1] ^= 1
	_ = os.WriteFile(name, content, 0o600)
}

// swap puts what is sound under another key in the place of a file.
func swap(c *compiling, name string) {
	content, _ := encodeArtefact(strings.Repeat("0", artefactKey), &artefact{Files: []madeFile{{Path: "main", Executable: true}}})
	_ = os.WriteFile(name, content, 0o600)
}

// What failed, what is not files alone, what is too large and what nobody wants kept is
// compiled each time.
func TestNotKept(t *testing.T) {
	for name, c := range map[string]struct {
		config func(*Config)
		code   string
	}{
		"failed":       {nil, "wrong"},
		"a link":       {nil, "link"},
		"a workspace":  {nil, "generates"},
		"many files":   {nil, "many"},
		"too large":    {func(cfg *Config) { cfg.CompiledBytes = 800 }, "source"},
		"switched off": {func(cfg *Config) { cfg.CompiledBytes = 0 }, "source"},
		"no place":     {func(cfg *Config) { cfg.DataDir = "" }, "source"},
	} {
		t.Run(name, func(t *testing.T) {
			e := newCompiling(t, c.config)
			for range 2 {
				if _, compiled := e.run(t, Request{Code: []byte(c.code)}); !compiled {
					t.Error("it was kept")
				}
			}
		})
	}
}

// Words of a compiler that pass the ceiling are its own to say.
func TestCompiledBeforeWithALowerCeiling(t *testing.T) {
	c := newCompiling(t, nil)
	c.run(t, Request{})
	if res, compiled := c.run(t, Request{MaxStreamBytes: 4}); !compiled || res.Status == api.StatusOK {
		t.Errorf("compiled %v, %s", compiled, res.Status)
	}
}

// Where the compiler says what is imported, it is asked each time: another policy wants to
// know.
func TestCompilerThatReportsImports(t *testing.T) {
	c := newCompiling(t, nil)
	c.run(t, Request{})
	r := &run{e: c.Executor, req: Request{Language: "c"}, plan: language.Plan{Compile: &language.Step{Args: []string{"x"}}}}
	if r.recall(); r.compiledKey == "" {
		t.Error("nothing is kept")
	}
	r = &run{e: c.Executor, req: Request{Language: "c"}, plan: language.Plan{Compile: &language.Step{Args: []string{"x"}}}, imports: imports{listener: &policy.Listener{}}}
	if r.recall(); r.compiledKey != "" {
		t.Error("what reports is kept")
	}
}

// A check looks at what a compiler says, and not at what it said.
func TestCheckCompiles(t *testing.T) {
	c := newCompiling(t, nil)
	c.run(t, Request{})
	before := c.calls
	if _, err := c.Check(t.Context(), Request{Language: "c", Code: []byte("source")}); err != nil || c.calls == before {
		t.Errorf("%d calls of the compiler, %v", c.calls-before, err)
	}
}

// What is kept together stays within its bound, and the newest remains.
func TestArtefactsAreBounded(t *testing.T) {
	a := newArtefacts(t.TempDir(), 1<<20)
	a.written = 0
	key := func(i int) string { return fmt.Sprintf("%0*d", artefactKey, i) }
	made := &artefact{Files: []madeFile{{Path: "main", Size: 60_000, Content: make([]byte, 60_000)}}}
	for i := range 100 {
		if err := a.put(key(i), made); err != nil {
			t.Fatal(err)
		}
		age(filepath.Join(a.dir, key(i)), time.Duration(100-i)*time.Second)
	}
	entries, err := os.ReadDir(a.dir)
	if err != nil || len(entries)*60_000 > 1<<20 || len(entries) < 10 {
		t.Errorf("%d are kept, %v", len(entries), err)
	}
	if got := a.get(key(99)); got == nil || len(got.Files) != 1 || len(got.Files[0].Content) != 60_000 {
		t.Errorf("the newest is %+v", got)
	}
	if a.get(key(0)) != nil {
		t.Error("the oldest is still there")
	}
	if unfinished, _ := filepath.Glob(filepath.Join(a.dir, unfinished+"*")); len(unfinished) > 0 {
		t.Errorf("left behind: %v", unfinished)
	}
}

// What is too old to be used is removed, whoever has compiled since.
func TestStaleArtefacts(t *testing.T) {
	dir := t.TempDir()
	a := newArtefacts(dir, 1<<20)
	old, young := strings.Repeat("a", artefactKey), strings.Repeat("b", artefactKey)
	for _, key := range []string{old, young} {
		if err := a.put(key, &artefact{}); err != nil {
			t.Fatal(err)
		}
	}
	age(filepath.Join(a.dir, old), maxArtefactAge+time.Minute)
	removed, err := Reclaim(t.Context(), dir)
	if want := []string{filepath.Join(a.dir, old)}; err != nil || !slices.Equal(removed, want) {
		t.Errorf("removed %q, %v, want %q", removed, err, want)
	}
	if a.get(young) == nil {
		t.Error("what can be used is gone")
	}
}

// A disk that is full keeps nothing, and spoils no run.
func TestArtefactsThatCannotBeKept(t *testing.T) {
	c := newCompiling(t, nil)
	if err := os.WriteFile(filepath.Join(c.cfg.DataDir, "cache"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if res, compiled := c.run(t, Request{}); !compiled || res.Status != api.StatusOK {
			t.Errorf("compiled %v, %+v", compiled, res)
		}
	}
}

// FuzzDecodeArtefact has nothing but what was encoded decoded, under the same key.
func FuzzDecodeArtefact(f *testing.F) {
	for _, made := range []*artefact{{}, {Stderr: []byte("w"), Files: []madeFile{{Path: "d", Dir: true}, {Path: "d/f", Executable: true, Size: 2, Content: []byte("ab")}}}} {
		content, err := encodeArtefact("k", made)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("k", content)
		f.Add("l", content)
	}
	f.Fuzz(func(t *testing.T, key string, content []byte) {
		// A hash keeps what was not written here away from the rest, which is tried too.
		for _, whole := range [][]byte{content, append(artefactSum(key, content), content...)} {
			made, err := decodeArtefact(key, whole)
			if err != nil {
				continue
			}
			again, err := encodeArtefact(key, made)
			if err != nil {
				t.Fatal(err)
			}
			back, err := decodeArtefact(key, again)
			if err != nil || cmp.Diff(made, back) != "" {
				t.Errorf("%v %s", err, cmp.Diff(made, back))
			}
		}
	})
}
