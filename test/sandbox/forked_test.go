package sandbox

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var manyRuns = flag.Int("runs", 20, "how many runs TestManyRunsLookTheSame compares")

// metric is a figure without labels of /metrics.
func (s *instance) metric(t *testing.T, name string) int {
	t.Helper()
	m := regexp.MustCompile(`(?m)^` + name + ` (\d+)$`).FindSubmatch(s.send(t, "GET", "/metrics", nil).body)
	if m == nil {
		t.Fatalf("nothing is told of %s", name)
	}
	n, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// ancestors are how many interpreters wait to be forked.
func (s *instance) ancestors(t *testing.T) int {
	t.Helper()
	return s.metric(t, "sandbox_ancestors")
}

// hammer has several clients send a request for some time, and gives the answers.
func (s *instance) hammer(t *testing.T, req api.Request, how time.Duration) (answers []api.Result) {
	t.Helper()
	var all sync.WaitGroup
	var mu sync.Mutex
	end := time.Now().Add(how)
	for range 3 {
		all.Go(func() {
			for time.Now().Before(end) {
				r := s.run(t, req)
				mu.Lock()
				answers = append(answers, r)
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return answers
}

// inherits has a program say first what it has of its ancestor: the seed of its hashes, or where its C
// library is. It is the same in all that were forked from one, and in no others.
var inherits = map[string]string{
	"python": "if __name__ == '__main__': print('inherited', hash('seed'), flush=True)\n",
	"javascript": "process.argv[2] !== 'child' && console.log('inherited', process.getBuiltinModule('fs').readFileSync('/proc/self/maps', 'latin1')." +
		"split('\\n').find((line) => line.includes('libc.so')).split('-')[0]); ",
}

// saying is a request for a program that says it.
func saying(req api.Request) api.Request {
	language, _, _ := strings.Cut(req.Language, "@")
	req.Code = inherits[language] + req.Code
	return req
}

// unsaid takes what a program has inherited from its result.
func unsaid(t *testing.T, r *api.Result) (inherited string) {
	t.Helper()
	if inherited, r.Stdout, _ = strings.Cut(r.Stdout, "\n"); !strings.HasPrefix(inherited, "inherited ") {
		t.Fatalf("%s: %s%s%s", r.Status, inherited, r.Stdout, r.Stderr)
	}
	return inherited
}

// forked are answers of a server that is so busy with a request that it forks for it: some of
// them are of interpreters that were.
func (s *instance) forked(t *testing.T, req api.Request) (answers []api.Result) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("an ordinary user's server forks no interpreters")
	}
	req = saying(req)
	if !testenv.Within(30*time.Second, func() bool {
		answers = s.hammer(t, req, 250*time.Millisecond)
		brothers, most := map[string]int{}, 0
		for i := range answers {
			inherited := unsaid(t, &answers[i])
			brothers[inherited]++
			most = max(most, brothers[inherited])
		}
		return most > 1
	}) {
		t.Fatalf("a busy server forks nothing, and has %d ancestors", s.ancestors(t))
	}
	return answers
}

// unforked is what comes of a request where no interpreter was forked.
func (s *instance) unforked(t *testing.T, req api.Request) string {
	t.Helper()
	r := s.run(t, saying(req))
	unsaid(t, &r)
	return ending(r)
}

// Where there are no control groups nothing is forked, and a server that is busy serves all the same.
func TestNothingIsForkedWithoutControlGroups(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can take them from a server")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "server")
	script := "#!/bin/sh\nexec unshare --mount sh -c 'mount -t tmpfs none /sys/fs/cgroup && exec \"$0\"' " + binary + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	server, err := testenv.Launch(program, nil, "SANDBOX_DATA_DIR="+dataDir, "SANDBOX_WARM=auto", "XDG_RUNTIME_DIR="+dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &instance{server}
	s.endsWith(t)
	warm := 0
	for _, r := range s.hammer(t, api.Request{Language: "python", Code: "print('hello')"}, 5*time.Second) {
		if r.Status != api.StatusOK || r.Meta.Isolation["cgroup"] != api.Absent {
			t.Fatalf("%s %s, isolation %v", r.Status, r.Message, r.Meta.Isolation)
		}
		if r.Meta.Warm {
			warm++
		}
	}
	if n := s.ancestors(t); n != 0 || warm == 0 {
		t.Errorf("%d ancestors, %d were ready", n, warm)
	}
}

// What a program can see of itself is the same where its interpreter was forked.
func TestForkedRunsAreLikeOthers(t *testing.T) {
	busy, cold := started(t), started(t, "SANDBOX_WARM=off")
	for language, names := range map[string][]string{
		"python":     {"itself.py", "process.py", "standard.py", "children.py", "imported.py", "collector.py", "end.py", "ends.py", "last.py", "left.py"},
		"javascript": {"builtins.js", "exit.js", "input.js", "itself.js", "killed.js", "modules.js", "order.js", "process.js", "quiet.js", "rejected.js", "uncaught.js"},
	} {
		for _, name := range names {
			t.Run(name, func(t *testing.T) {
				source, err := os.ReadFile(filepath.Join("testdata", "warm", language, name))
				if err != nil {
					t.Fatal(err)
				}
				for _, req := range likeThese(t, language, string(source)) {
					if req.Env["OPENSSL_CONF"] != "" {
						continue // for which no interpreter waits
					}
					want := cold.unforked(t, req)
					for _, r := range busy.forked(t, req) {
						if diff := cmp.Diff(want, ending(r)); diff != "" {
							t.Fatalf("args %q, stdin %q: started, and + forked:\n%s", req.Args, req.Stdin, diff)
						}
					}
				}
			})
		}
	}
}

// A forked Python does not take apart what its ancestor has made. Only what a program does to a class of that tells.
func TestForkedEndsAreSpared(t *testing.T) {
	req := api.Request{Language: "python", Code: "import json\njson.JSONEncoder.__del__ = lambda self: print('ended')\n"}
	if r := started(t, "SANDBOX_WARM=off").run(t, req); r.Stdout != "ended\n" {
		t.Fatalf("not forked: %q %s", r.Stdout, r.Stderr)
	}
	for _, r := range started(t).forked(t, req) {
		if r.Status == api.StatusOK && r.Stdout == "" {
			return
		}
	}
	t.Error("all have come to their very end")
}

// Each version of Python and Node that is here has ancestors of its own.
func TestForkedInEveryVersion(t *testing.T) {
	busy, cold := started(t), started(t, "SANDBOX_WARM=off")
	var list api.Languages
	if err := json.Unmarshal(cold.send(t, "GET", "/v1/languages", nil).body, &list); err != nil {
		t.Fatal(err)
	}
	for language, name := range map[string]string{"python": "itself.py", "javascript": "process.js"} {
		t.Run(language, func(t *testing.T) {
			source, err := os.ReadFile(filepath.Join("testdata", "warm", language, name))
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(list.Languages, func(l api.Language) bool { return l.Name == language })
			if i < 0 || len(list.Languages[i].Versions) < 2 {
				t.Skip("there are no two versions here")
			}
			for _, version := range list.Languages[i].Versions[1:] { // the first is everybody's
				t.Run(version, func(t *testing.T) {
					req := api.Request{Language: language + "@" + version, Code: string(source)}
					want := cold.unforked(t, req)
					for _, r := range busy.forked(t, req) {
						got := ending(r)
						if language == "javascript" { // of Node 21 and later; see docs/SECURITY.md
							got = strings.ReplaceAll(got, "Seccomp_filters:\t2", "Seccomp_filters:\t1")
						}
						if diff := cmp.Diff(want, got); r.Version != version || diff != "" {
							t.Fatalf("%s: started, and + forked:\n%s", r.Version, diff)
						}
					}
				})
			}
		})
	}
}

// What a program sees of its walls and of itself is the same in the first run of a warm server and
// in the last of many, of waiting interpreters and of forked ones.
func TestManyRunsLookTheSame(t *testing.T) {
	busy := started(t)
	for _, name := range []string{"process.py", "itself.py", "process.js", "itself.js"} {
		language := map[string]string{".py": "python", ".js": "javascript"}[filepath.Ext(name)]
		source, err := os.ReadFile(filepath.Join("testdata", "warm", language, name))
		if err != nil {
			t.Fatal(err)
		}
		req := api.Request{Language: language, Code: string(source)}
		busy.run(t, req) // so that there is a demand
		want, n := ending(busy.runWarm(t, req)), 1
		for n < *manyRuns {
			for _, r := range busy.hammer(t, req, time.Second) {
				n++
				if diff := cmp.Diff(want, ending(r)); diff != "" {
					t.Fatalf("%s: the first run, and + run %d or so:\n%s", name, n, diff)
				}
			}
		}
		t.Logf("%s: %d runs, %d ancestors", name, n, busy.ancestors(t))
	}
}

// Of what is forked nothing is drawn twice but what its ancestor has drawn; with
// SANDBOX_WARM=single-use there is no ancestor.
func TestForkedRunsAreFresh(t *testing.T) {
	busy := started(t)
	var req api.Request
	for language, program := range map[string]string{
		"python": `import os, random, tempfile, uuid
print(random.random(), uuid.uuid4(), tempfile.mktemp(), os.urandom(8).hex())
open("/tmp/left", "x"); open("left", "x")`,
		"javascript": `const fs = require("fs"), crypto = require("crypto"), vm = require("vm");
console.log(Math.random(), crypto.randomUUID(), crypto.randomBytes(8).toString("hex"), crypto.webcrypto.randomUUID(), fs.mkdtempSync("/tmp/x"));
console.log(vm.runInNewContext("Math.random()"), crypto.generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey.export({ format: "jwk" }).x);
fs.writeFileSync("/tmp/left", "", { flag: "wx" }); fs.writeFileSync("left", "", { flag: "wx" })`,
	} {
		req = api.Request{Language: language, Code: program}
		seen := map[string]bool{}
		for _, r := range append(busy.forked(t, req), busy.hammer(t, req, time.Second)...) {
			if r.Status != api.StatusOK {
				t.Fatalf("%s: %s%s", r.Status, r.Stdout, r.Stderr)
			}
			for word := range strings.FieldsSeq(r.Stdout) {
				if seen[word] {
					t.Fatalf("%s for the second time", word)
				}
				seen[word] = true
			}
		}
	}
	single := started(t, "SANDBOX_WARM=single-use")
	single.hammer(t, req, 2500*time.Millisecond)
	if n := single.ancestors(t); n != 0 {
		t.Errorf("%d ancestors of single use", n)
	}
}
