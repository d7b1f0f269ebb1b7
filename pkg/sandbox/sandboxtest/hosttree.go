package sandboxtest

import (
	"archive/tar"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/image"
)

// HostImage is the name of the image that [Images] makes of this host's shell and
// tools, and of its Python where it has one.
const HostImage = "sandboxtest/host:1"

// Images makes a store with one image, and returns its directory.
func Images(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := importTree(t, dir, HostImage, append(hostTree(t), python(t)...)); err != nil {
		t.Fatal(err)
	}
	return dir
}

func importTree(t *testing.T, dir, name string, entries []entry) error {
	t.Helper()
	store, err := image.Open(dir, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	_, err = store.ImportTree(t.Context(), name, bytes.NewReader(archive(t, entries)), image.Config{Env: []string{"PATH=/usr/bin:/bin", "FROM=image"}})
	return err
}

// entry is one of an archive, as hostile as it may be.
type entry struct {
	tar.Header
	content string
}

func file(name, content string, mode int64) entry {
	return entry{tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: mode, Size: int64(len(content))}, content}
}

func dir(name string, mode int64) entry {
	return entry{tar.Header{Typeflag: tar.TypeDir, Name: name, Mode: mode}, ""}
}

func link(name, target string) entry {
	return entry{tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: target, Mode: 0o777}, ""}
}

func archive(t *testing.T, entries []entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tools are the programs that the suite's scripts need.
var tools = []string{
	"sh", "bash", "cat", "chmod", "cut", "echo", "env", "find", "flock", "grep", "head", "hostname", "id", "kill", "ln", "ls", "mkdir",
	"mkfifo", "printf", "readlink", "rm", "seq", "setsid", "sleep", "sort", "stat", "stty", "tail", "test", "touch", "tr", "true", "wc",
}

// hostTree is a root with the host's tools and the libraries that they need, laid
// out as systems are today: with links at the top.
func hostTree(t *testing.T) []entry {
	t.Helper()
	tree := []entry{link("bin", "usr/bin"), link("sbin", "usr/sbin"), link("lib", "usr/lib"), link("lib64", "usr/lib64")}
	return append(tree, programs(t, tools...)...)
}

// python is the host's, with its standard library; nothing where there is none.
func python(t *testing.T) (tree []entry) {
	t.Helper()
	where, err := exec.Command("/usr/bin/python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
	if err != nil {
		return nil
	}
	library := os.DirFS("/")
	err = fs.WalkDir(library, strings.Trim(string(where), "/\n"), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "test" || d.Name() == "__pycache__"):
			return fs.SkipDir
		case d.Type().IsRegular():
			content, err := fs.ReadFile(library, name)
			tree = append(tree, file(name, string(content), 0o644))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return append(tree, programs(t, "python3")...)
}

// programs are tools of the host, and the libraries that they need.
func programs(t *testing.T, tools ...string) (tree []entry) {
	t.Helper()
	have := map[string]bool{}
	add := func(name string) {
		at := strings.TrimPrefix(name, "/")
		if first, _, _ := strings.Cut(at, "/"); first != "usr" {
			at = path.Join("usr", at)
		}
		if have[at] {
			return
		}
		have[at] = true
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tree = append(tree, file(at, string(content), 0o755))
	}
	library := regexp.MustCompile(`(?m)^\s*(?:\S+ => )?(/\S+) \(0x`)
	for _, tool := range tools {
		// The system's own: what else is on PATH may have its libraries anywhere.
		name, err := exec.LookPath("/usr/bin/" + tool)
		if err != nil {
			name, err = exec.LookPath("/bin/" + tool)
		}
		if err != nil {
			t.Skipf("an image needs the host's tools: %v", err)
		}
		if name, err = filepath.EvalSymlinks(name); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		tree = append(tree, file("usr/bin/"+tool, string(content), 0o755))
		needs, _ := exec.Command("ldd", name).Output() // a static program is an error
		for _, found := range library.FindAllStringSubmatch(string(needs), -1) {
			add(found[1])
		}
	}
	return tree
}

// staticProgram is a program that needs nothing, and says who it is, whether /tmp,
// /dev/null and /proc are there, and whether it can write to the root.
func staticProgram(t *testing.T) string {
	t.Helper()
	const source = `package main

import (
	"fmt"
	"os"
)

func main() {
	works := func(name string, flags int) bool { _, err := os.OpenFile(name, flags, 0o600); return err == nil }
	fmt.Println(os.Geteuid(), os.Getegid(), works("/tmp/x", os.O_CREATE|os.O_WRONLY), works("/dev/null", os.O_WRONLY),
		works("/proc/self/status", os.O_RDONLY), works("/x", os.O_CREATE|os.O_WRONLY))
}
`
	work := t.TempDir()
	if err := os.WriteFile(filepath.Join(work, "main.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-o", "hello", "main.go")
	build.Dir, build.Env = work, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GO111MODULE=off")
	if _, err := os.UserCacheDir(); err != nil {
		build.Env = append(build.Env, "GOCACHE="+filepath.Join(work, "cache"))
	}
	if out, err := build.CombinedOutput(); err != nil {
		t.Skipf("no static program: %v: %s", err, out)
	}
	program, err := os.ReadFile(filepath.Join(work, "hello"))
	if err != nil {
		t.Fatal(err)
	}
	return string(program)
}
