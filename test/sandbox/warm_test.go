package sandbox

import (
	"bytes"
	"encoding/json"
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

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// ready waits until the server has containers ready for a language.
func (s *instance) ready(t *testing.T, language string, want int) {
	t.Helper()
	deadline := time.Now().Add(time.Minute)
	for {
		h := decode[api.Health](t, s.send(t, "GET", "/health", nil).body)
		if h.Warm[language] >= want {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after a minute %v are ready, not %d of %s", h.Warm, want, language)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// runWarm runs a request in a container that was ready. What is ready may be for another
// kind of request, which it is not when this one comes again.
func (s *instance) runWarm(t *testing.T, req api.Request) (r api.Result) {
	t.Helper()
	for range 50 {
		s.ready(t, req.Language, 1)
		if r = s.run(t, req); r.Meta.Warm {
			return r
		}
	}
	t.Fatalf("nothing is ready for %s", req.Language)
	return r
}

// What a program can see of itself is the same whether its interpreter was started for it
// or had waited, to the last byte.
func TestWarmRunsAreLikeOthers(t *testing.T) {
	const anew = "SANDBOX_COMPILE_CACHE_MB=0" // it is compilers that are compared, and not what one has made
	warm, cold := started(t, anew), started(t, anew, "SANDBOX_WARM=off")
	for language, ahead := range map[string]string{
		"python":     `print(".sandbox-run-ahead" in open("/proc/self/environ").read())`,
		"javascript": `console.log(require("fs").readFileSync("/proc/self/cmdline", "utf8").includes(".sandbox-run-ahead"))`,
		"java": `class Main { public static void main(String[] a) {
			try { Class.forName("sandbox_run.Ahead"); System.out.println(true); } catch (ClassNotFoundException e) { System.out.println(false); } } }`,
		"rust": "fn main() {}", // where nothing of what waited is left in the program
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			for range 2 { // so that there is a demand
				warm.run(t, api.Request{Language: language, Code: ahead})
			}
			waited := func() bool {
				r := warm.runWarm(t, api.Request{Language: language, Code: ahead})
				return strings.EqualFold(strings.TrimSpace(r.Stdout), "true")
			}
			if language != "rust" && !testenv.Within(time.Minute, waited) {
				t.Fatal("no interpreter has waited")
			}
			if r := cold.run(t, api.Request{Language: language, Code: ahead}); r.Meta.Warm || strings.EqualFold(strings.TrimSpace(r.Stdout), "true") {
				t.Fatalf("the other one had: warm %v, %q %q", r.Meta.Warm, r.Stdout, r.Stderr)
			}
			files, err := filepath.Glob(filepath.Join("testdata", "warm", language, "*"))
			if err != nil || len(files) == 0 {
				t.Fatalf("no programs: %v", err)
			}
			for _, file := range files {
				t.Run(filepath.Base(file), func(t *testing.T) {
					source, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					for _, req := range likeThese(t, language, string(source)) {
						want, times := ending(cold.run(t, req)), 1
						if language == "python" || language == "javascript" {
							times = 3 // from the third on what it imports was imported ahead
						}
						for range times {
							if diff := cmp.Diff(want, ending(warm.runWarm(t, req))); diff != "" {
								t.Errorf("args %q, stdin %q: cold, and + warm:\n%s", req.Args, req.Stdin, diff)
							}
							time.Sleep(100 * time.Millisecond) // until one is made
						}
					}
				})
			}
		})
	}
}

// likeThese are the requests of a program: as it is, and with the words that a line of it
// names, "# with: " or "// with: " and a request in JSON.
func likeThese(t *testing.T, language, source string) []api.Request {
	t.Helper()
	requests := []api.Request{{Language: language, Code: source}}
	for line := range strings.Lines(source) {
		if _, text, found := strings.Cut(line, " with: "); found {
			req := api.Request{Language: language, Code: source}
			if err := json.Unmarshal([]byte(text), &req); err != nil {
				t.Fatal(err)
			}
			requests = append(requests, req)
		}
	}
	return requests
}

// ending is what a run has come to, without what differs between any two.
func ending(r api.Result) string {
	text := fmt.Sprintf("%s %d %v %q\nfiles %v\n%s\n--\n%s", r.Status, r.ExitCode, r.Signal, r.Message, names(r), r.Stdout, r.Stderr)
	for _, name := range names(r) {
		text += fmt.Sprintf("\n-- %s: %q", name, r.Files[name].Content)
	}
	for _, p := range r.Phases {
		if p.Name != api.PhaseRun {
			text += fmt.Sprintf("\n-- %s %s %d %v\n%s--\n%s", p.Name, p.Status, p.ExitCode, p.Signal, p.Stdout, p.Stderr)
		}
	}
	return text
}

func names(r api.Result) []string { return slices.Sorted(maps.Keys(r.Files)) }

// Two runs have nothing of each other, and nothing that both have drawn.
func TestWarmRunsAreFresh(t *testing.T) {
	warm := started(t)
	for language, program := range map[string]string{
		"python": `import os, random, sys, tempfile, uuid
print(random.random(), hash("a"), uuid.uuid4(), tempfile.mktemp(), os.urandom(8).hex(), id(object()))
open("/tmp/left", "x"); open("left", "x")`,
		"javascript": `const fs = require("fs");
console.log(Math.random(), require("crypto").randomUUID());
fs.writeFileSync("/tmp/left", "", {flag: "wx"}); fs.writeFileSync("left", "", {flag: "wx"})`,
	} {
		t.Run(language, func(t *testing.T) {
			seen := map[string]bool{}
			for range 6 {
				warm.ready(t, language, 1)
				r := warm.runWarm(t, api.Request{Language: language, Code: program})
				if r.Status != api.StatusOK || seen[r.Stdout] {
					t.Fatalf("%s: %s%s", r.Status, r.Stdout, r.Stderr)
				}
				for _, word := range strings.Fields(r.Stdout) {
					if seen[word] {
						t.Errorf("%s for the second time", word)
					}
					seen[word] = true
				}
				seen[r.Stdout] = true
			}
		})
	}
}

// What an interpreter took to start is no part of the run's time, and limits hold from its
// begin.
func TestWarmRunsAndLimits(t *testing.T) {
	warm := started(t)
	for _, c := range []struct {
		code    string
		timeout float64
		want    api.Status
	}{
		{"import time\ntime.sleep(30)", 1, api.StatusTimeout},
		{"x = bytearray(1 << 30)\nfor i in range(0, 1 << 30, 4096): x[i] = 1", 0, api.StatusMemoryLimit},
		{"while True: print('x' * 1000000)", 0, api.StatusOutputLimit},
		{"import os\nos.kill(os.getpid(), 11)", 0, api.StatusSignaled},
		{"raise SystemExit(3)", 0, api.StatusRuntimeError},
	} {
		r := warm.runWarm(t, api.Request{Language: "python", Code: c.code, TimeoutSeconds: c.timeout})
		if r.Status != c.want {
			t.Errorf("%q: %s, %s", c.code, r.Status, r.Message)
		}
	}
}

// pathOf is a directory with those programs alone: no shims, which would look at HOME.
func pathOf(t *testing.T, names ...string) string {
	t.Helper()
	path := t.TempDir()
	for _, name := range names {
		program, err := exec.LookPath(name)
		if err != nil {
			t.Skipf("no %s here", name)
		}
		if program, err = filepath.EvalSymlinks(program); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(program, filepath.Join(path, filepath.Base(name))); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// A server prepares what is missing before somebody needs it, unless that would take memory that runs
// may be granted.
func TestServerPreparesWhatIsMissing(t *testing.T) {
	path := pathOf(t, "/usr/bin/python3", "javac")
	for name, c := range map[string]struct {
		megabytes string
		prepares  bool
	}{"room": {"4096", true}, "no room": {"1024", false}} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			s := started(t, "SANDBOX_DATA_DIR="+data, "PATH="+path, "HOME="+path, "SANDBOX_COMPILE_MEMORY_MB=512", "SANDBOX_TOTAL_MEMORY_MB="+c.megabytes)
			s.runWarm(t, api.Request{Language: "python", Code: "print()"})
			if c.prepares {
				s.ready(t, "java", 2) // one for its compiler
				if r := s.run(t, api.Request{Language: "java", Code: "class Main { public static void main(String[] a) {} }"}); r.Status != api.StatusOK || !r.Meta.Warm {
					t.Errorf("%s, warm %t: %s", r.Status, r.Meta.Warm, r.Message)
				}
			} else {
				time.Sleep(6 * time.Second) // it begins after three without a request
			}
			made, err := filepath.Glob(filepath.Join(data, "cache/build/javac-*"))
			if err != nil || (len(made) > 0) != c.prepares {
				t.Errorf("prepared: %v, %v", made, err)
			}
		})
	}
}

// What is prepared before the first request is prepared: the first program in Java waits for
// nothing, and what is not here is said.
func TestWarmVerb(t *testing.T) {
	data := t.TempDir()
	if err := testenv.Prepared(data, os.Geteuid()); err != nil { // Go's library takes a minute
		t.Fatal(err)
	}
	compilers := func() []string {
		names, err := filepath.Glob(filepath.Join(data, "cache/build/javac-*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	for _, name := range compilers() { // Java's is made here
		if err := os.RemoveAll(name); err != nil {
			t.Fatal(err)
		}
	}
	warm := func(settings ...string) (stdout, stderr string, err error) {
		var out, said bytes.Buffer
		cmd := exec.CommandContext(t.Context(), binary, "warm")
		cmd.Env = append(testenv.Environ(settings...), "SANDBOX_DATA_DIR="+data)
		cmd.Stdout, cmd.Stderr = &out, &said
		err = cmd.Run()
		return out.String(), said.String(), err
	}
	path := pathOf(t, "/usr/bin/python3", "javac")
	for range 2 {
		stdout, stderr, err := warm("PATH="+path, "HOME="+path)
		if err != nil || !regexp.MustCompile(`(?m)^python 3\S+: ready after \d+\.\d s$`).MatchString(stdout) || !regexp.MustCompile(`(?m)^java \d\S*: ready after`).MatchString(stdout) {
			t.Fatalf("%v, stdout %q, stderr %q", err, stdout, stderr)
		}
	}
	if len(compilers()) == 0 {
		t.Error("nothing is prepared")
	}
	if _, stderr, err := warm("SANDBOX_TYPE=oci", "SANDBOX_OCI_RUNTIME=/nowhere"); err == nil || !strings.Contains(stderr, "/nowhere") {
		t.Errorf("without a runtime: %v, %q", err, stderr)
	}
}

// Containers of other runtimes are ready as well, with what waits in them.
func TestWarmElsewhere(t *testing.T) {
	for name, c := range map[string]struct {
		settings []string
		missing  bool
	}{
		"oci":    {[]string{"SANDBOX_TYPE=oci", "SANDBOX_OCI_RUNTIME=crun"}, !inPath("crun") || os.Geteuid() != 0},
		"docker": {[]string{"SANDBOX_TYPE=docker", "DOCKER_HOST=" + os.Getenv("SANDBOX_TEST_ENGINE"), "SANDBOX_DOCKER_IMAGE=" + os.Getenv("SANDBOX_TEST_ENGINE_IMAGE")}, os.Getenv("SANDBOX_TEST_ENGINE") == ""},
	} {
		t.Run(name, func(t *testing.T) {
			if c.missing {
				t.Skipf("no %s here", name)
			}
			s := started(t, c.settings...)
			req := api.Request{Language: "python", Code: "import sys; print(sys.argv[1:], input(), __file__); sys.exit(3)", Args: []string{"a"}, Stdin: "in\n"}
			var cold api.Result
			for range 2 {
				cold = s.run(t, req)
			}
			warm := s.runWarm(t, req)
			if diff := cmp.Diff(ending(cold), ending(warm)); diff != "" || warm.ExitCode != 3 {
				t.Errorf("cold, and + warm: %s", diff)
			}
			t.Logf("%.0f ms, of which %.0f to have a container; made for it %.0f and %.0f", 1000*warm.ExecutionTime, 1000**warm.Metrics.SetupS, 1000*cold.ExecutionTime, 1000**cold.Metrics.SetupS)
		})
	}
}

// Nothing waits where it would take another server's places.
func TestNothingWaitsFarAway(t *testing.T) {
	far := started(t, "SANDBOX_WARM=off")
	near := started(t, "SANDBOX_TYPE=remote", "SANDBOX_REMOTE="+far.URL)
	made := func() int { return far.metric(t, "sandbox_containers_total") }
	for n := range 4 {
		before := made()
		r := near.run(t, api.Request{Language: "bash", Code: "echo hello"})
		if r.Status != api.StatusOK || r.Meta.Warm {
			t.Fatalf("%s, warm %t: %s", r.Status, r.Meta.Warm, r.Message)
		}
		if more := made() - before; n > 0 && more != 1 { // the first also looks for what is there
			t.Errorf("a run had %d containers made", more)
		}
	}
}

func inPath(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
