package executor

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

var badNames = []string{
	"", ".", "..", "/", "//", "/etc/passwd", "../x", "a/../../x", "a/..", "a/./b", "./a", "a//b", "a/", "/a",
	"a\x00b", "\x00", "\xff", "a/\xc3(", "../../../../../../etc/shadow", "..//x", "a/b/../../../c",
	strings.Repeat("a", 4096), strings.Repeat("a/", 2047) + "a", strings.Repeat("é", 128), strings.Repeat("x", 256) + "/y", strings.Repeat("a/", 128) + "a",
}

func TestCheckNameRefuses(t *testing.T) {
	for _, name := range badNames {
		err := checkName(name)
		if input := wantInput(t, err, InputInvalid); !strings.HasPrefix(input.Field, "/files/") {
			t.Errorf("%.40q: field %q", name, input.Field)
		}
		if len(err.Error()) > 4*maxNameBytes {
			t.Errorf("an error of %d bytes", len(err.Error()))
		}
	}
}

func TestCheckNameAccepts(t *testing.T) {
	for _, name := range []string{"a", "main.py", "a/b/c", "...", "..a", "a..", " ", "a b", "你好/🦀.txt", `a\b`, "-rf", "~", "a\nb",
		strings.Repeat("x", 255), strings.Repeat("a/", 127) + "a", strings.Repeat(strings.Repeat("x", 127)+"/", 8)[:1023]} {
		if err := checkName(name); err != nil {
			t.Errorf("%.40q: %v", name, err)
		}
	}
}

func TestCheckNameFieldIsAPointer(t *testing.T) {
	input := wantInput(t, checkName("/a~b"), InputInvalid)
	if input.Field != "/files/~1a~0b" {
		t.Errorf("field %q, want the JSON pointer", input.Field)
	}
}

func FuzzCheckName(f *testing.F) {
	for _, name := range badNames {
		f.Add(name)
	}
	f.Add("a/b")
	f.Fuzz(func(t *testing.T, name string) {
		if checkName(name) != nil {
			return
		}
		const root = "/workspace"
		joined := path.Join(root, name)
		if !strings.HasPrefix(joined, root+"/") || joined != root+"/"+name || !filepath.IsLocal(name) {
			t.Errorf("%q means %q", name, joined)
		}
		if strings.ContainsRune(name, 0) || len(name) > maxNameBytes || strings.ToValidUTF8(name, "") != name {
			t.Errorf("%q was accepted", name)
		}
		for part := range strings.SplitSeq(name, "/") {
			if part == "" || part == "." || part == ".." || len(part) > 255 {
				t.Errorf("%q has the part %q", name, part)
			}
		}
	})
}

func TestCheckFiles(t *testing.T) {
	many := map[string]InputFile{}
	for i := range maxFiles + 1 {
		many[fmt.Sprint(i)] = InputFile{}
	}
	half := InputFile{Content: make([]byte, maxTotalBytes/2)}
	for _, tc := range []struct {
		name  string
		req   Request
		words string
	}{
		{"too many", Request{Files: many}, "10001 files are too many: at most 10000"},
		{"too large", Request{Files: map[string]InputFile{"a": half, "b": half}, Code: []byte("x")}, "at most 64 MiB"},
		{"code too large", Request{Code: make([]byte, maxTotalBytes+1)}, "at most 64 MiB"},
		{"bad name", Request{Files: map[string]InputFile{"../a": {}}}, `"../a"`},
	} {
		t.Run(tc.name, func(t *testing.T) { wantInput(t, checkFiles(tc.req), InputInvalid, tc.words) })
	}
	for _, req := range []Request{{}, {Files: map[string]InputFile{"a": half, "b": half}}} {
		if err := checkFiles(req); err != nil {
			t.Errorf("%v", err)
		}
	}
}

func TestCheckTree(t *testing.T) {
	tree := func(names ...string) map[string]InputFile {
		files := map[string]InputFile{}
		for _, n := range names {
			files[n] = InputFile{}
		}
		return files
	}
	wantInput(t, checkTree(tree("a", "a-b", "a/b")), InputInvalid, `"a" is a file and a directory: "a/b" lies below it`)
	wantInput(t, checkTree(tree("x/a", "x/a/b/c")), InputInvalid, `"x/a" is a file and a directory`)
	for _, files := range []map[string]InputFile{nil, tree("a"), tree("a", "ab", "b/a", "b/ab", "b/c/a")} {
		if err := checkTree(files); err != nil {
			t.Errorf("%v: %v", files, err)
		}
	}
	// The plan's own files count too.
	r := run{req: Request{Files: tree("main.py/x")}, plan: language.Plan{Files: map[string][]byte{"main.py": nil}}}
	wantInput(t, checkTree(r.inputs()), InputInvalid, `"main.py" is a file and a directory`)
}

// The code takes no file's place, in whatever language.
func TestCodeAndAFileOfItsName(t *testing.T) {
	for _, lang := range language.All() {
		for _, name := range lang.Info().Entries[:min(1, len(lang.Info().Entries))] {
			r := run{lang: lang, req: Request{Code: []byte("x"), Files: map[string]InputFile{name: {Content: []byte("y")}, "z": {}}}}
			if input := wantInput(t, r.checkCode(), InputInvalid, name, "--entry"); input.Field != "/files/"+name {
				t.Errorf("field %q", input.Field)
			}
			r.req.Files[name] = InputFile{Content: []byte("x")}
			same := r.checkCode()
			r.req.Code, r.req.Files[name] = nil, InputFile{Content: []byte("y")}
			if none := r.checkCode(); same != nil || none != nil {
				t.Errorf("%s: the same: %v, no code: %v", name, same, none)
			}
		}
	}
	e := newFakeExecutor(&fakeRuntime{})
	e.cfg.Host = fakeGCC(t)
	_, err := e.Admit(t.Context(), Request{Language: "c", Code: []byte("x"), Files: map[string]InputFile{"main.c": {}}})
	wantInput(t, err, InputInvalid, "main.c")
}

func TestFillWorkspace(t *testing.T) {
	tree := &fakeTree{names: map[string]fakeFile{}}
	r := run{
		req: Request{Files: map[string]InputFile{
			"data":   {Content: []byte("1")},
			"run.sh": {Content: []byte("old"), Executable: true},
		}},
		plan: language.Plan{Files: map[string][]byte{"run.sh": []byte("new"), "main.py": []byte("m")}},
	}
	if err := r.fillWorkspace(tree); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for name, f := range tree.names {
		got[name] = fmt.Sprintf("%04o %s", f.Mode, f.content)
	}
	want := map[string]string{"data": "0644 1", "run.sh": "0755 new", "main.py": "0644 m"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestWorkspaceErrorsThatAreTheCallers(t *testing.T) {
	r := run{disk: sandbox.DiskLimit{Bytes: 1 << 20}}
	for _, errno := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT} {
		input := wantInput(t, r.doesNotFit(sandbox.Isolation{}, fmt.Errorf("write a: %w", errno)), InputInvalid, "do not fit", "1 MiB")
		if input.Field != "/limits/disk_mb" {
			t.Errorf("field %q", input.Field)
		}
	}
	ours := errors.New("broken")
	full := fmt.Errorf("write a: %w", syscall.ENOSPC) // the host's disk, where nothing but samples holds the limit
	if err := r.doesNotFit(sandbox.Isolation{Limits: map[string]string{"disk": api.Sampled}}, full); err != full {
		t.Errorf("the host's disk is full: %v", err)
	}
	if err := r.doesNotFit(sandbox.Isolation{}, ours); err != ours {
		t.Errorf("%v, want it as it was", err)
	}
}

func TestWorkdir(t *testing.T) {
	for dir, want := range map[string]string{
		"": "/workspace", ".": "/workspace", "a/b": "/workspace/a/b", "/tmp": "/tmp", "/tmp/../x": "/x", "/workspace/": "/workspace",
	} {
		r := run{req: Request{Dir: dir}}
		if got := r.workdir(); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
		wantSource := want
		if want == "/workspace" && dir != "." {
			wantSource = ""
		}
		if got := r.source().Dir; got != wantSource {
			t.Errorf("%q: the source's directory is %q, want %q", dir, got, wantSource)
		}
	}
}

func TestSource(t *testing.T) {
	r := run{req: Request{Code: []byte("c"), Entry: "e", Args: []string{"a"}, Files: map[string]InputFile{"f": {Content: []byte("x")}}}}
	want := language.Source{Code: []byte("c"), Entry: "e", Args: []string{"a"}, Files: map[string][]byte{"f": []byte("x")}}
	if diff := cmp.Diff(want, r.source()); diff != "" {
		t.Error(diff)
	}
	if empty := (&run{}).source(); empty.Files != nil {
		t.Error("no files are nil, not empty")
	}
}

func TestEnvironmentIsExact(t *testing.T) {
	world := []string{"HOME=/workspace", "LANG=C.UTF-8", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR=/tmp", "TZ=UTC", "USER=sandbox"}
	r := run{}
	if diff := cmp.Diff(world, r.environment(language.Step{}, nil)); diff != "" {
		t.Error(diff)
	}
	r = run{
		toolchain: language.Toolchain{Program: "/opt/go/bin/go", Env: []string{"A=toolchain", "B=toolchain", "EMPTY"}},
		req:       Request{Env: map[string]string{"C": "request", "TZ": "Asia/Tokyo"}},
	}
	got := r.environment(language.Step{Env: []string{"B=step", "C=step", "EQUALS=a=b"}}, r.req.Env)
	for _, want := range []string{"A=toolchain", "B=step", "C=request", "TZ=Asia/Tokyo", "EQUALS=a=b", "EMPTY=",
		"PATH=/opt/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if !slices.IsSorted(got) || len(got) != 11 {
		t.Errorf("environment %q, want 11 variables in order", got)
	}
}

func TestPathIsNotRepeated(t *testing.T) {
	r := run{toolchain: language.Toolchain{Program: "/usr/bin/python3"}}
	for _, kv := range r.environment(language.Step{}, nil) {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok && strings.Count(":"+value+":", ":/usr/bin:") != 1 {
			t.Errorf("%s", kv)
		}
	}
}
