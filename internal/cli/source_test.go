package cli

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Files that are too large or too many are refused with the bound, and a huge
// sparse file is not read first.
func TestSourceBounds(t *testing.T) {
	dir := t.TempDir()
	huge := filepath.Join(dir, "huge.py")
	sparse(t, huge, 100<<20)
	_, err := fileSource(&runFlags{}, huge)
	wantError(t, err, "larger than 16 MiB, which is the most")
	wantError(t, newTree().add(huge, "x"), "larger than 64 MiB, which is the most")

	_, err = readFile("/dev/zero", 1<<20) // has no size to be known before
	wantError(t, err, "larger than 1 MiB")

	project := filepath.Join(dir, "p")
	if err := os.Mkdir(project, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		sparse(t, filepath.Join(project, fmt.Sprintf("%d.py", i)), 30<<20)
	}
	wantError(t, newTree().add(project, "."), "the files are larger than 64 MiB in all")

	full := newTree()
	small := filepath.Join(dir, "small")
	sparse(t, small, 1)
	for i := range maxInputFiles {
		full.files[fmt.Sprint(i)] = full.files["none"]
	}
	wantError(t, full.add(small, "one-more"), "more than 10000 files")
}

func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Skipf("no unix socket can be made here: %v", err)
	}
	defer l.Close()
	wantError(t, newTree().add(dir, "."), "socket is not a regular file")

	link := filepath.Join(t.TempDir(), "link")
	target := t.TempDir()
	sparse(t, filepath.Join(target, "a"), 1)
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	tree := newTree()
	if err := tree.add(link, "."); err != nil || len(tree.files) != 1 {
		t.Errorf("a directory that the user names through a link: %v, %v", tree.files, err)
	}
	wantError(t, tree.add(target, "../x"), "outside the workspace")
}

func TestNULArguments(t *testing.T) {
	wantError(t, (&runFlags{Output: formatText, Args: []string{"a\x00b"}}).check(), "NUL byte")
	wantError(t, (&runFlags{Output: formatText, Env: []string{"A=\x00"}}).check(), "NUL byte")
}

func TestCommonParent(t *testing.T) {
	for paths, want := range map[string]string{
		"/a/b/c.py":           "/a/b",
		"/a/b/c.py /a/b/d.py": "/a/b",
		"/a/b/c.py /a/d/e.py": "/a",
		"/a/b/c.py /a/bc/d":   "/a",
		"/x/y /z":             "/",
	} {
		if got := commonParent(strings.Fields(paths)); got != want {
			t.Errorf("commonParent(%s) = %s, want %s", paths, got, want)
		}
	}
}

func TestSplitInput(t *testing.T) {
	t.Chdir(t.TempDir())
	sparse(t, "with:colon", 1)
	for in, want := range map[string]string{
		"with:colon": "with:colon → with:colon", "dir/file": "dir/file → file", "file:sub/": "file → sub/file",
		"/abs/file:/workspace/x": "/abs/file → x", "file:a/../b": "file → b",
	} {
		src, dest, err := splitInput(in)
		if got := src + " → " + dest; got != want || err != nil {
			t.Errorf("splitInput(%s): %s, %v, want %s", in, got, err, want)
		}
	}
	for _, in := range []string{"file:/etc/passwd", "file:..", "file:a/../../b", "/"} {
		if src, dest, err := splitInput(in); err == nil {
			t.Errorf("splitInput(%s): %s → %s, want an error", in, src, dest)
		}
	}
}

// Whatever is typed, parsing ends with flags or an error, and what follows --
// arrives as it is.
func FuzzParse(f *testing.F) {
	for _, line := range []string{"--lang\nx\n--\n--help", "-l\n-x", "-lpy", "--json=false", "--env\n--", "a\nb\n--code=\n-", "---", "-\xff", "--=", "-e"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\n")
		flags := &runFlags{}
		after, help, err := parse(flags, args)
		if err == nil && !help {
			_ = flags.check()
		}
		if len(after) > len(args) {
			t.Errorf("%q: more arguments than were given", args)
		}
	})
}

func TestSplitArgs(t *testing.T) {
	parser, err := newParser(&runFlags{})
	if err != nil {
		t.Fatal(err)
	}
	for in, want := range map[string]string{
		"--code -- -- x --help": "[--code=--] [x --help] false",
		"-l -h f":               "[--lang=-h f] [] false",
		"--json -h":             "[--json] [] true",
		"-- -h":                 "[] [-h] false",
		"--code":                "[--code] [] false",
		"--code=a b":            "[--code=a b] [] false",
	} {
		own, after, help := splitArgs(strings.Fields(in), parser.Model.Flags)
		if got := fmt.Sprint(own, after, help); got != want {
			t.Errorf("splitArgs(%s) = %s, want %s", in, got, want)
		}
	}
}

func sparse(t *testing.T, name string, size int64) {
	t.Helper()
	f, err := os.Create(name)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func wantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %q", err, want)
	}
}
