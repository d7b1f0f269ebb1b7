package soak

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// program is what a client sends, and what must come back.
type program struct {
	name     string
	weight   int // how often beside the others; 0 is for languages that take seconds
	request  api.Request
	statuses []api.Status
	stdout   string // a pattern in which TOKEN stands for what no other run is sent; empty for any
	file     string // what the file out holds then
	leaves   time.Duration
}

// asked is the request. Ordinary programs are sent a token as argument, input and file, so
// that what one run is shown of another's would be seen.
func (p program) asked(token string) api.Request {
	if p.request.Files == nil && p.stdout != "" {
		p.request.Args, p.request.Stdin, p.request.Files = []string{token}, token, map[string]api.InputFile{"in": {Content: token}}
	}
	return p.request
}

func ordinary(name string, weight int, language, code string, status api.Status, stdout string) program {
	return program{name: name, weight: weight, request: api.Request{Language: language, Code: code}, statuses: []api.Status{status}, stdout: stdout}
}

// ordinaryPrograms are what most people send.
func ordinaryPrograms() []program {
	all := []program{
		ordinary("bash", 6, "bash", `echo "hello $1"`, api.StatusOK, `^hello TOKEN\n$`),
		ordinary("bash, input", 4, "bash", `cat`, api.StatusOK, `^TOKEN$`),
		ordinary("bash, pipes", 4, "bash", `seq 2000 | sort -n | tail -n 1; wc -c <in >own; cat in`, api.StatusOK, `^2000\nTOKEN$`),
		ordinary("bash, exit code", 4, "bash", `cat in; exit 3`, api.StatusRuntimeError, `^TOKEN$`),
		ordinary("bash, children", 4, "bash", `for i in 1 2 3; do (sleep 0.02; cat in) & done; wait`, api.StatusOK, `^(TOKEN){3}$`),
		ordinary("python", 8, "python", `import sys; print("hello", sys.argv[1])`, api.StatusOK, `^hello TOKEN\n$`),
		ordinary("python, input", 4, "python", `print(input()[::-1][::-1], sum(range(100000)))`, api.StatusOK, `^TOKEN 4999950000\n$`),
		ordinary("python, exception", 4, "python", "print(open('in').read())\nraise ValueError('as it should')", api.StatusRuntimeError, `^TOKEN\n$`),
		ordinary("python, syntax", 3, "python", "def f(:\n", api.StatusCompileError, `^$`),
		ordinary("python, package that is not there", 3, "python", "import a_package_that_nobody_has", api.StatusRuntimeError, `^$`),
		ordinary("javascript", 4, "javascript", `console.log('hello', process.argv[2])`, api.StatusOK, `^hello TOKEN\n$`),
		ordinary("javascript, error", 2, "javascript", `console.log(require('fs').readFileSync('in', 'utf8')); throw new Error('as it should')`, api.StatusRuntimeError, `^TOKEN\n$`),
		ordinary("javascript, syntax", 1, "javascript", `let = = 1`, api.StatusCompileError, `^$`),
		ordinary("c", 3, "c", "#include <stdio.h>\nint main(int n, char **a) { printf(\"hello %s\\n\", a[1]); return 0; }", api.StatusOK, `^hello TOKEN\n$`),
		ordinary("c, compile error", 2, "c", "int main(void) { return x; }", api.StatusCompileError, `^$`),
		ordinary("perl", 2, "perl", `print "hello $ARGV[0]\n"`, api.StatusOK, `^hello TOKEN\n$`),
		ordinary("lua", 2, "lua", `print("hello " .. arg[1])`, api.StatusOK, `^hello TOKEN\n$`),
		ordinary("go", 0, "go", "package main\n\nimport (\"fmt\"; \"os\")\n\nfunc main() { fmt.Println(\"hello\", os.Args[1]) }", api.StatusOK, `^hello TOKEN\n$`),
		ordinary("rust", 0, "rust", `fn main() { println!("hello {}", std::env::args().nth(1).unwrap()) }`, api.StatusOK, `^hello TOKEN\n$`),
		ordinary("java", 0, "java", `class Main { public static void main(String[] a) { System.out.println("hello " + a[0]); } }`, api.StatusOK, `^hello TOKEN\n$`),
	}
	for _, language := range []string{"bash", "python"} {
		code := map[string]string{"bash": `{ cat in; cat in; } >out; ln -s out link; mkdir d; echo x >d/f`, "python": "open('out', 'w').write(open('in').read() * 2)"}[language]
		p := ordinary(language+", files", 4, language, code, api.StatusOK, `^$`)
		p.file = "TOKENTOKEN"
		all = append(all, p)
	}
	return all
}

// rows are programs of test/hostile that end soon, in which language, and the time that
// they have here: little for those that only time ends, and much for those that reach
// another limit first, also on a machine that is busy with the others.
var rows = []struct {
	name, file string
	seconds    float64
}{
	{"A01-fork-bomb", "main.sh", 0.4},
	{"A01-fork-bomb", "main.c", 0.4},
	{"A02-fork-bomb-in-sessions", "main.py", 0.5},
	{"A03-thread-bomb", "main.py", 60},
	{"A04-vfork-chain", "main.c", 0.4},
	{"A07-memory-at-once", "main.py", 60},
	{"A07-memory", "main.c", 60},
	{"A07-memory", "main.py", 60},
	{"A08-memory-split", "main.c", 60},
	{"A13-descriptors-in-flight", "main.py", 60},
	{"A20-descriptors", "main.py", 60},
	{"A21-closed-directories", "main.py", 60},
	{"A23-sparse-file", "main.sh", 60},
	{"A26-output-flood", "main.sh", 60},
	{"A28-orphan-with-the-output", "main.py", 60},
	{"A31-endless-loop", "main.py", 0.4},
	{"A42-oom-score", "main.py", 60},
	{"B01-included-file", "main.c", 60},
	{"C01-daemon", "main.py", 60},
	{"C02-deaf-to-signals", "main.sh", 1},
	{"C03-stopped", "main.sh", 1},
	{"C06-own-zombies", "main.py", 60},
	{"C07-subreapers", "main.py", 60},
	{"C13-comet-after-the-end", "main.c", 60},
	{"C13-comet", "main.c", 0.4},
	{"C15-exit-codes", "main.sh", 60},
	{"C15-own-signals", "main.sh", 60},
	{"C15-signal-of-the-filter", "main.sh", 60},
}

// hostilePrograms are those, and clients that go away in the middle.
func hostilePrograms() ([]program, error) {
	all := []program{
		{name: "disk", weight: 1, request: api.Request{Language: "bash", Code: "head -c 40m /dev/zero >big", Limits: &api.RequestLimits{DiskMB: 8}}, statuses: []api.Status{api.StatusDiskLimit}},
		{name: "client leaves", weight: 3, request: api.Request{Language: "bash", Code: "trap '' TERM; setsid sleep 1000 & sleep 1000"}, leaves: 400 * time.Millisecond},
		{name: "client leaves a flood", weight: 2, request: api.Request{Language: "bash", Code: "yes; sleep 1000"}, leaves: 300 * time.Millisecond},
		{name: "client leaves a compiler", weight: 1, request: api.Request{Language: "c", Code: "#include <stdio.h>\n#include <math.h>\nint main(void) { for (;;) ; }"}, leaves: 100 * time.Millisecond},
	}
	for _, r := range rows {
		p, err := rowOf(r.name, r.file)
		if err != nil {
			return nil, fmt.Errorf("test/hostile/rows/%s: %w", r.name, err)
		}
		p.request.TimeoutSeconds = r.seconds
		all = append(all, p)
	}
	return all, nil
}

var head = regexp.MustCompile(`(?m)^(expect|stdout|only|skip|with)(\[.*\])?: (.*)$`)

// other matches conditions of what the soak is not: local at full, as root.
var other = regexp.MustCompile(`\b(restricted|ordinary|oci|docker|remote)\b`)

// rowOf reads a row of test/hostile, which describes its format, of those that expect
// the same everywhere.
func rowOf(name, file string) (program, error) {
	archive, err := txtar.ParseFile(filepath.Join("../hostile/rows", name+".txtar"))
	if err != nil {
		return program{}, err
	}
	p := program{name: name + " " + strings.TrimPrefix(filepath.Ext(file), "."), weight: 1}
	p.request.Files = map[string]api.InputFile{}
	for _, m := range head.FindAllStringSubmatch(string(archive.Comment), -1) {
		elsewhere := other.MatchString(m[2])
		switch {
		case elsewhere: // not with local at full, as root
		case m[2] == "" && m[1] == "with":
			for _, lib := range strings.Fields(m[3]) {
				data, err := os.ReadFile(filepath.Join("../hostile/testdata/lib", lib))
				if err != nil {
					return p, err
				}
				p.request.Files[lib] = api.InputFile{Content: string(data)}
			}
		case m[2] != "" || m[1] != "expect" && m[1] != "stdout":
			return p, fmt.Errorf("the line %q is not for everywhere", m[0])
		case m[1] == "stdout":
			p.stdout = m[3]
		default:
			for _, s := range strings.Fields(m[3]) {
				p.statuses = append(p.statuses, api.Status(s))
			}
		}
	}
	if p.statuses == nil {
		p.statuses = []api.Status{api.StatusOK}
		if p.stdout == "" {
			p.stdout = `^done\n$`
		}
	}
	if slices.Contains(p.statuses, api.StatusTimeout) {
		p.stdout = "" // on a busy machine time may end it before its first word
	}
	for _, f := range archive.Files {
		switch {
		case f.Name == "request.json":
			if err := json.Unmarshal(f.Data, &p.request); err != nil {
				return p, err
			}
		case f.Name == file || !strings.HasPrefix(f.Name, "main.") && f.Name != "Main.java":
			p.request.Files[f.Name] = api.InputFile{Content: string(f.Data)}
		}
	}
	p.request.Entry = file
	p.request.Language = map[string]string{".sh": "bash", ".py": "python", ".c": "c"}[filepath.Ext(file)]
	if _, ok := p.request.Files[file]; !ok || p.request.Language == "" {
		return p, os.ErrNotExist
	}
	return p, nil
}

// judge says what is wrong with a result, or nothing.
func (p program) judge(r *api.Result, token string) string {
	switch fill := strings.NewReplacer("TOKEN", token); {
	case !slices.Contains(p.statuses, r.Status):
		return fmt.Sprintf("status %s, not %v", r.Status, p.statuses)
	case p.stdout != "" && !regexp.MustCompile(fill.Replace(p.stdout)).MatchString(r.Stdout):
		return "stdout is not " + fill.Replace(p.stdout)
	case p.file != "" && r.Files["out"].Content != fill.Replace(p.file):
		return fmt.Sprintf("the file is %q", r.Files["out"].Content)
	}
	return ""
}
