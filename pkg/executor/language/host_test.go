package language

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// fakeHost is a host whose home and search path are below one directory.
type fakeHost struct {
	t    *testing.T
	root string
	env  map[string]string
	Host
}

func newFakeHost(t *testing.T, path ...string) *fakeHost {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	f := &fakeHost{t: t, root: root, env: map[string]string{}}
	f.Home = filepath.Join(root, "home")
	for _, dir := range path {
		f.Path = append(f.Path, filepath.Join(root, dir))
	}
	f.Getenv = func(name string) string { return f.env[name] }
	return f
}

// file writes a file; one that starts with #! is a program.
func (f *fakeHost) file(name, content string) string {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	mode := os.FileMode(0o644)
	if strings.HasPrefix(content, "#!") {
		mode = 0o755
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		f.t.Fatal(err)
	}
	return path
}

// program writes a script that tells a version.
func (f *fakeHost) program(name, version string) string {
	f.t.Helper()
	return f.file(name, "#!/bin/sh\necho Tool "+version+"\n")
}

func (f *fakeHost) link(target, name string) {
	f.t.Helper()
	path := filepath.Join(f.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		f.t.Fatal(err)
	}
}

// found lists candidates as origin:path, the path relative to the root.
func (f *fakeHost) found(language string, names []string, globs map[string][]string) []string {
	var list []string
	for c := range f.candidates(language, names, globs) {
		list = append(list, c.Origin+":"+strings.TrimPrefix(c.Program, f.root+"/"))
	}
	return list
}

func (f *fakeHost) pyenvShim(name string) {
	f.file("home/.pyenv/shims/"+name, `#!/usr/bin/env bash
set -e
program="${0##*/}"
export PYENV_ROOT="`+f.Home+`/.pyenv"
exec "`+f.Home+`/.pyenv/libexec/pyenv" exec "$program" "$@"
`)
}

func TestCandidates(t *testing.T) {
	pythons := map[string][]string{"pyenv": {"~/.pyenv/versions/*/bin/python3"}}
	pyenv := func(f *fakeHost) {
		f.pyenvShim("python3")
		for _, v := range []string{"3.9.18", "3.12.1", "3.11.7", "3.11.10"} {
			f.program("home/.pyenv/versions/"+v+"/bin/python"+strings.TrimSuffix(v[:4], "."), v)
			f.link("python"+strings.TrimSuffix(v[:4], "."), "home/.pyenv/versions/"+v+"/bin/python3")
		}
	}
	rustup := func(f *fakeHost) {
		f.program("home/.cargo/bin/rustup", "rustup")
		f.link("rustup", "home/.cargo/bin/rustc")
		f.program("home/.rustup/toolchains/nightly-x86_64/bin/rustc", "1.97.0")
		f.program("home/.rustup/toolchains/stable-x86_64/bin/rustc", "1.95.0")
		f.file("home/.rustup/settings.toml", "version = \"12\"\ndefault_toolchain = \"stable-x86_64\"\n\n[overrides]\n\"/x\" = \"nightly\"\n")
	}
	mise := func(f *fakeHost) {
		f.program("usr/bin/mise", "mise")
		f.link(f.root+"/usr/bin/mise", "home/.local/share/mise/shims/node")
		f.program("home/.local/share/mise/installs/node/20.1.0/bin/node", "20.1.0")
		f.program("home/.local/share/mise/installs/node/22.3.0/bin/node", "22.3.0")
		f.program("home/.local/share/mise/installs/python/3.12.1/bin/python3", "3.12.1")
	}
	asdf := func(f *fakeHost) {
		f.file("home/.asdf/shims/node", "#!/usr/bin/env bash\n# asdf-plugin: nodejs 18.2.0\n# asdf-plugin: nodejs 20.1.0\nexec /opt/asdf/bin/asdf exec \"node\" \"$@\"\n")
		f.program("home/.asdf/installs/nodejs/18.2.0/bin/node", "18.2.0")
		f.program("home/.asdf/installs/nodejs/20.1.0/bin/node", "20.1.0")
	}
	tests := []struct {
		name  string
		path  []string
		setup func(f *fakeHost)
		names []string
		globs map[string][]string
		want  []string
	}{
		{"the search path in order, links resolved, each once", []string{"a", "b"}, func(f *fakeHost) {
			f.program("b/python3", "2")
			f.program("real/python3.9", "1")
			f.link("../real/python3.9", "a/python3")
			f.link("../real/python3.9", "b/python")
		}, []string{"python3", "python"}, nil, []string{"PATH:real/python3.9", "PATH:b/python3"}},

		{"neither a directory nor a plain file is a program", []string{"a", "b", "c"}, func(f *fakeHost) {
			f.file("a/python3/x", "")
			f.file("b/python3", "not executable")
			f.link("nowhere", "c/python3")
		}, []string{"python3"}, nil, nil},

		{"patterns, newest first, by number and not by letter", nil, pyenv, nil, pythons,
			[]string{"pyenv:home/.pyenv/versions/3.12.1/bin/python3.12", "pyenv:home/.pyenv/versions/3.11.10/bin/python3.11",
				"pyenv:home/.pyenv/versions/3.11.7/bin/python3.11", "pyenv:home/.pyenv/versions/3.9.18/bin/python3.9"}},

		{"a pyenv shim follows the version file", []string{"home/.pyenv/shims"}, func(f *fakeHost) {
			pyenv(f)
			f.file("home/.pyenv/version", "3.11.7\n")
		}, []string{"python3"}, nil, []string{"pyenv:home/.pyenv/versions/3.11.7/bin/python3.11"}},

		{"a version file may shorten", []string{"home/.pyenv/shims"}, func(f *fakeHost) {
			pyenv(f)
			f.file("home/.pyenv/version", "3.11\n3.9.18\n")
		}, []string{"python3"}, nil, []string{"pyenv:home/.pyenv/versions/3.11.10/bin/python3.11"}},

		{"PYENV_VERSION comes first", []string{"home/.pyenv/shims"}, func(f *fakeHost) {
			pyenv(f)
			f.file("home/.pyenv/version", "3.11.7\n")
			f.env["PYENV_VERSION"] = "3.12.1:3.11.7"
		}, []string{"python3"}, nil, []string{"pyenv:home/.pyenv/versions/3.12.1/bin/python3.12"}},

		{"system leads down the search path", []string{"home/.pyenv/shims", "usr/bin"}, func(f *fakeHost) {
			pyenv(f)
			f.file("home/.pyenv/version", "system\n")
			f.program("usr/bin/python3", "3.10.1")
		}, []string{"python3"}, nil, []string{"PATH:usr/bin/python3"}},

		{"without a choice the newest", []string{"home/.pyenv/shims"}, pyenv, []string{"python3"}, nil,
			[]string{"pyenv:home/.pyenv/versions/3.12.1/bin/python3.12"}},

		{"a shim without any version leads nowhere", []string{"home/.pyenv/shims"}, func(f *fakeHost) { f.pyenvShim("python3") },
			[]string{"python3"}, nil, nil},

		{"a rustup proxy is its default toolchain", []string{"home/.cargo/bin"}, rustup, []string{"rustc"}, nil,
			[]string{"rustup:home/.rustup/toolchains/stable-x86_64/bin/rustc"}},

		{"RUSTUP_TOOLCHAIN comes first, without its host", []string{"home/.cargo/bin"}, func(f *fakeHost) {
			rustup(f)
			f.env["RUSTUP_TOOLCHAIN"] = "nightly"
		}, []string{"rustc"}, nil, []string{"rustup:home/.rustup/toolchains/nightly-x86_64/bin/rustc"}},

		{"a rustup proxy as a hard link", []string{"home/.cargo/bin"}, func(f *fakeHost) {
			rustup(f)
			os.Remove(filepath.Join(f.root, "home/.cargo/bin/rustc"))
			if err := os.Link(filepath.Join(f.root, "home/.cargo/bin/rustup"), filepath.Join(f.root, "home/.cargo/bin/rustc")); err != nil {
				f.t.Fatal(err)
			}
		}, []string{"rustc"}, nil, []string{"rustup:home/.rustup/toolchains/stable-x86_64/bin/rustc"}},

		{"a mise shim follows its configuration", []string{"home/.local/share/mise/shims"}, func(f *fakeHost) {
			mise(f)
			f.file("home/.config/mise/config.toml", "[settings]\nnode = \"22\"\n[tools]\nnode = [\"20\", \"22\"]\n")
		}, []string{"node"}, nil, []string{"mise:home/.local/share/mise/installs/node/20.1.0/bin/node"}},

		{"a mise shim without a choice is the newest", []string{"home/.local/share/mise/shims"}, mise, []string{"node"}, nil,
			[]string{"mise:home/.local/share/mise/installs/node/22.3.0/bin/node"}},

		{"an asdf shim follows ~/.tool-versions", []string{"home/.asdf/shims"}, func(f *fakeHost) {
			asdf(f)
			f.file("home/.tool-versions", "# mine\npython 3.12.1\nnodejs 18.2.0 20.1.0 # old\n")
		}, []string{"node"}, nil, []string{"asdf:home/.asdf/installs/nodejs/18.2.0/bin/node"}},

		{"an asdf shim without a choice is the newest", []string{"home/.asdf/shims"}, asdf, []string{"node"}, nil,
			[]string{"asdf:home/.asdf/installs/nodejs/20.1.0/bin/node"}},

		{"a program that acts by its name keeps it", []string{"usr/bin"}, func(f *fakeHost) {
			f.program("usr/lib/llvm/bin/clang", "14.0.6")
			f.link("clang", "usr/lib/llvm/bin/clang++")
			f.link("../lib/llvm/bin/clang++", "usr/bin/clang++")
		}, []string{"clang++"}, nil, []string{"PATH:usr/bin/clang++"}},

		{"wrappers are passed over", []string{"usr/lib/ccache", "usr/bin"}, func(f *fakeHost) {
			f.program("usr/bin/ccache", "4")
			f.link("../../bin/ccache", "usr/lib/ccache/gcc")
			f.program("usr/bin/gcc", "12.2.0")
		}, []string{"gcc"}, nil, []string{"PATH:usr/bin/gcc"}},

		{"the configuration first, even what does not exist", []string{"usr/bin"}, func(f *fakeHost) {
			f.program("usr/bin/python3", "3.10.1")
			f.program("home/py/python3", "3.12.1")
			f.Named = map[string]string{"python@3.9": f.root + "/gone/python3", "python": "~/py/python3", "node": "/x"}
		}, []string{"python3"}, nil, []string{"configuration:home/py/python3", "configuration:gone/python3", "PATH:usr/bin/python3"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := newFakeHost(t, test.path...)
			test.setup(f)
			if diff := cmp.Diff(test.want, f.found("python", test.names, test.globs)); diff != "" {
				t.Errorf("candidates (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRelativePathIsIgnored(t *testing.T) {
	f := newFakeHost(t)
	f.program("python3", "3.12.1")
	t.Chdir(f.root)
	f.Path = []string{".", ""}
	if got := f.found("python", []string{"python3"}, nil); got != nil {
		t.Errorf("found %v through a relative search path", got)
	}
}

// countingCache counts what is asked and stored.
type countingCache struct {
	values     map[string]string
	hits, puts int
}

func (c *countingCache) Get(key string) (string, bool) {
	value, ok := c.values[key]
	if ok {
		c.hits++
	}
	return value, ok
}

func (c *countingCache) Put(key, value string) {
	c.puts++
	c.values[key] = value
}

func TestVersionIsAskedOnce(t *testing.T) {
	f := newFakeHost(t)
	cache := &countingCache{values: map[string]string{}}
	f.Cache = cache
	program := f.program("tool", "1.2.3")
	re := regexp.MustCompile(`Tool (\S+)`)
	for range 3 {
		if v, err := f.version(t.Context(), program, re); v != "1.2.3" || err != nil {
			t.Fatalf("version %q, %v", v, err)
		}
	}
	if cache.puts != 1 || cache.hits != 2 {
		t.Errorf("%d puts and %d hits, want 1 and 2", cache.puts, cache.hits)
	}
	f.program("tool", "1.2.30") // another size
	if v, err := f.version(t.Context(), program, re); v != "1.2.30" || err != nil {
		t.Errorf("after an upgrade: version %q, %v", v, err)
	}
	if _, err := f.version(t.Context(), program, re, "--other"); err != nil || cache.puts != 3 {
		t.Errorf("another question was answered from memory (%d puts, %v)", cache.puts, err)
	}
}

func TestVersionErrors(t *testing.T) {
	f := newFakeHost(t)
	f.Cache = &countingCache{values: map[string]string{}}
	tests := []struct{ name, script, want string }{
		{"failed", "#!/bin/sh\necho lib.so: missing >&2\nexit 127\n", "failed: exit status 127: lib.so: missing"},
		{"silent", "#!/bin/sh\nexit 0\n", "does not tell its version"},
		{"other", "#!/bin/sh\necho hello\n", "does not tell its version: hello"},
		{"garbage", "#!not-a-program\n", "failed: "},
	}
	for _, test := range tests {
		program := f.file(test.name, test.script)
		_, err := f.version(t.Context(), program, regexp.MustCompile(`Tool (\S+)`), "-V")
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), program) {
			t.Errorf("%s: error %v, want %s … %s", test.name, err, program, test.want)
		}
	}
	if _, err := f.version(t.Context(), f.root+"/gone", regexp.MustCompile(`x`)); err == nil {
		t.Error("a program that does not exist has a version")
	}
	if puts := f.Cache.(*countingCache).puts; puts != 0 {
		t.Errorf("%d failures were remembered", puts)
	}
}

// The environment of the user must not change what a program says it is.
func TestVersionSeesNoEnvironment(t *testing.T) {
	t.Setenv("PYTHONHOME", "/nowhere")
	f := newFakeHost(t)
	program := f.file("tool", "#!/bin/sh\necho Tool 1.$PYTHONHOME.$PWD\n")
	v, err := f.version(t.Context(), program, regexp.MustCompile(`Tool (\S+)`))
	if v != "1../" || err != nil {
		t.Errorf("version %q, %v", v, err)
	}
}

func TestMountsFor(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".bashrc"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	parts := func(dir string) []sandbox.Mount {
		return []sandbox.Mount{
			{Source: dir + "/bin", Optional: true}, {Source: dir + "/lib", Optional: true}, {Source: dir + "/lib64", Optional: true},
		}
	}
	tests := []struct {
		prefix string
		want   []sandbox.Mount
	}{
		{"/usr", nil},
		{"/usr/local/go/", nil},
		{"/", nil},
		{"/lib/x", nil},
		{"/usrlocal/x", []sandbox.Mount{{Source: "/usrlocal/x"}}},
		{"/root/.pyenv/versions/3.12.1", []sandbox.Mount{{Source: "/root/.pyenv/versions/3.12.1"}}},
		{"/nix/store/abc-python3-3.12", []sandbox.Mount{{Source: "/nix/store"}}},
		{"/home/linuxbrew/.linuxbrew/Cellar/node/22.1.0", []sandbox.Mount{{Source: "/home/linuxbrew/.linuxbrew"}}},
		{"/home/ada", parts("/home/ada")},
		{"/root", parts("/root")},
		{"/opt", parts("/opt")},
		{"/home/ada/.local", parts("/home/ada/.local")},
		{home, parts(home)},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, mountsFor(test.prefix)); diff != "" {
			t.Errorf("mountsFor(%s) (-want +got):\n%s", test.prefix, diff)
		}
	}
}

func TestFindRefuses(t *testing.T) {
	f := newFakeHost(t, "bin")
	old := f.program("bin/tool", "1.9.0")
	named := f.program("opt/tool", "2.1.0")
	f.Named = map[string]string{"tool@2.2": named, "tool": f.root + "/gone"}
	s := search{Language: "tool", Title: "Tool", Names: []string{"tool"}, Pattern: regexp.MustCompile(`Tool (\S+)`), Oldest: "2"}
	found, missing := f.find(t.Context(), s)
	want := []Missing{
		{Language: "tool", Reason: fmt.Sprintf("%s/gone cannot be used: stat %[1]s/gone: no such file or directory", f.root)},
		{Language: "tool", Reason: fmt.Sprintf("the configuration names %s as tool@2.2, but it is version 2.1.0", named)},
		{Language: "tool", Reason: fmt.Sprintf("%s is Tool 1.9.0; the oldest that works is 2", old)},
	}
	if len(found) > 0 {
		t.Errorf("found %v", found)
	}
	if diff := cmp.Diff(want, missing); diff != "" {
		t.Errorf("missing (-want +got):\n%s", diff)
	}
	f.Path, f.Named = nil, nil
	if _, missing := f.find(t.Context(), s); len(missing) != 1 || !strings.Contains(missing[0].Reason, "no program tool was found") {
		t.Errorf("missing %v", missing)
	}
}
