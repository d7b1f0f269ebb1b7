package guest

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// noise is content of which no part looks like another.
func noise(n int) []byte {
	b := make([]byte, n)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(b)
	return b
}

func (t *fileTree) put(name, content string) error {
	return t.WriteFile(name, strings.NewReader(content), 0o644)
}

func TestFilesNamesTheTrees(t *testing.T) {
	w := start(t)
	for _, dir := range []string{sandbox.WorkspaceDir, sandbox.WorkspaceDir + "/", smallDir} {
		if _, err := w.Files(dir); err != nil {
			t.Error(err)
		}
	}
	for _, dir := range []string{"/", "", "/etc", sandbox.WorkspaceDir + "/sub", sandbox.WorkspaceDir + "/../etc", "workspace"} {
		if _, err := w.Files(dir); err == nil {
			t.Errorf("there is a tree %q", dir)
		}
	}
}

func TestWriteFile(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	for _, size := range []int{0, 1, piece - 1, piece, piece + 1, 3*piece + 5} {
		for _, mode := range []fs.FileMode{0o644, 0o755, 0o600, 0o444, 0o555, 0o777, 0o200} {
			content := noise(size)
			// A reader that gives little at a time makes no other file.
			if err := tree.WriteFile("made/for/it", iotest.HalfReader(bytes.NewReader(content)), mode); err != nil {
				t.Errorf("%d bytes, mode %v: %v", size, mode, err)
				continue
			}
			info, err := os.Lstat(host + "/made/for/it")
			must(t, err)
			equal(t, "mode", info.Mode(), mode)
			// Our own user may not read every mode, whoever runs the test.
			if mode&0o400 != 0 {
				got, err := readAll(tree, "made/for/it")
				if err != nil || got != string(content) {
					t.Errorf("%d bytes, mode %v: read %d bytes back, %v", size, mode, len(got), err)
				}
			}
		}
	}
	must(t, tree.WriteFile("special", strings.NewReader("x"), 0o755|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	for name, mode := range map[string]fs.FileMode{"special": 0o755, "made": 0o755 | fs.ModeDir, "made/for": 0o755 | fs.ModeDir} {
		info, err := os.Lstat(filepath.Join(host, name))
		must(t, err)
		equal(t, name, info.Mode(), mode)
	}
	broken := errors.New("broken")
	if err := tree.WriteFile("x", io.MultiReader(bytes.NewReader(noise(piece+1)), iotest.ErrReader(broken)), 0o644); !errors.Is(err, broken) {
		t.Errorf("a reader that fails: %v", err)
	}
}

// TestWriteFileReplaces: what is there is replaced and never written through.
func TestWriteFileReplaces(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	must(t, tree.put("canary", "untouched"))
	for name, plant := range map[string]func(string) error{
		"file":     func(at string) error { return os.WriteFile(at, noise(1<<20), 0o600) },
		"hardlink": func(at string) error { return os.Link(host+"/canary", at) },
		"symlink":  func(at string) error { return os.Symlink("canary", at) },
		"dangling": func(at string) error { return os.Symlink("nowhere", at) },
		"loop":     func(at string) error { return os.Symlink("loop", at) },
		"fifo":     func(at string) error { return unix.Mkfifo(at, 0o666) },
		"socket":   func(at string) error { return unix.Mknod(at, unix.S_IFSOCK|0o666, 0) },
		"readonly": func(at string) error { return os.WriteFile(at, nil, 0) },
	} {
		must(t, plant(filepath.Join(host, name)))
		for _, content := range []string{"ours", string(noise(2*piece + 1))} {
			if err := tree.put(name, content); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if got, err := readAll(tree, name); got != content || err != nil {
				t.Errorf("%s: %d bytes came back of %d, %v", name, len(got), len(content), err)
			}
		}
		info, err := os.Lstat(filepath.Join(host, name))
		must(t, err)
		equal(t, name, info.Mode(), 0o644)
	}
	got, err := readAll(tree, "canary")
	must(t, err)
	equal(t, "the canary", got, "untouched")
	if _, err := os.Lstat(host + "/nowhere"); err == nil {
		t.Error("the target of a dangling link was made")
	}
	must(t, os.Mkdir(host+"/dir", 0o755))
	if err := tree.put("dir", "x"); err == nil {
		t.Error("a directory was replaced")
	}
}

// TestReplacedWhileWritten: what a program plants between two pieces does not lead
// out of the tree, and holds nobody up.
func TestReplacedWhileWritten(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	_, outside := w.tree(sandbox.BuildDir)
	must(t, os.WriteFile(outside+"/canary", []byte("untouched"), 0o666))
	for name, plant := range map[string]func(string) error{
		"symlink": func(at string) error { return os.Symlink(sandbox.BuildDir+"/canary", at) },
		"fifo":    func(at string) error { return unix.Mkfifo(at, 0o666) },
		"nothing": func(string) error { return nil },
		"above": func(at string) error {
			return errors.Join(os.Remove(filepath.Dir(at)), os.Symlink(sandbox.BuildDir, filepath.Dir(at)))
		},
	} {
		at := filepath.Join(host, name, "canary")
		swap := readerFunc(func([]byte) (int, error) {
			must(t, os.Remove(at), plant(at))
			return 0, io.EOF
		})
		err := tree.WriteFile(name+"/canary", io.MultiReader(bytes.NewReader(noise(piece)), swap, bytes.NewReader(noise(10))), 0o644)
		if err == nil {
			t.Errorf("%s: all was written", name)
		}
	}
	content, err := os.ReadFile(outside + "/canary")
	must(t, err)
	equal(t, "the canary", string(content), "untouched")
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

func TestParents(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	_, outside := w.tree(sandbox.BuildDir)
	must(t, os.Mkdir(outside+"/real", 0o755), os.WriteFile(outside+"/real/f", []byte("secret"), 0o644), os.Mkdir(host+"/real", 0o755))
	must(t, os.Symlink(sandbox.BuildDir+"/real", host+"/out"), os.Symlink("real", host+"/in"), tree.put("file", "x"))
	for _, parent := range []string{"out", "in", "file", "out/deeper"} {
		name := parent + "/f"
		if err := tree.put(name, "x"); err == nil {
			t.Errorf("wrote %s", name)
		}
		if err := tree.MkdirAll(name); err == nil {
			t.Errorf("made %s", name)
		}
		if content, err := readAll(tree, name); err == nil {
			t.Errorf("read %s: %q", name, content)
		}
	}
	for _, dir := range []string{host + "/real", outside + "/real"} {
		entries, err := os.ReadDir(dir)
		must(t, err)
		if len(entries) > 1 {
			t.Errorf("%s holds %v", dir, entries)
		}
	}
	for _, bad := range []string{"", ".", "..", "/x", "../x", "a/../../x", "a//b", "a/", "./a"} {
		var invalid *fs.PathError
		if err := tree.put(bad, "x"); !errors.As(err, &invalid) || !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("write %q: %v", bad, err)
		}
		if _, err := tree.Open(bad); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("open %q: %v", bad, err)
		}
		if err := tree.MkdirAll(bad); bad != "." && !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("mkdir %q: %v", bad, err)
		}
	}
}

func TestMkdirAll(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	for range 2 { // what is there is no error
		must(t, tree.MkdirAll("a/b/c"), tree.MkdirAll("a"), tree.MkdirAll("."))
	}
	info, err := os.Lstat(host + "/a/b/c")
	must(t, err)
	equal(t, "mode", info.Mode(), 0o755|fs.ModeDir)
	must(t, tree.put("f", ""), os.Symlink("a", host+"/link"))
	for _, name := range []string{"f", "link", "f/x"} {
		if err := tree.MkdirAll(name); err == nil {
			t.Errorf("%s is a directory now", name)
		}
	}
	deep := strings.Repeat("d/", 200) + "f"
	must(t, tree.put(deep, "deep"))
	got, err := readAll(tree, deep)
	must(t, err)
	equal(t, "what is deep down", got, "deep")
}

func TestOpen(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	big := noise(5*piece + 17)
	must(t, os.WriteFile(host+"/big", big, 0o640))
	f, err := tree.Open("big")
	must(t, err)
	must(t, iotest.TestReader(f, big))
	info, err := f.Stat()
	must(t, err)
	want, err := os.Lstat(host + "/big")
	must(t, err)
	if info.Name() != "big" || info.Size() != want.Size() || info.Mode() != want.Mode() || !info.ModTime().Equal(want.ModTime()) || info.IsDir() {
		t.Errorf("%+v, want %+v", info, want)
	}
	must(t, f.Close())
	if n, err := f.Read(make([]byte, 10)); n > 0 || err == nil {
		t.Errorf("read %d bytes of a closed file, %v", n, err)
	}
	if _, err := tree.Open("missing"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if _, err := tree.Open("missing/below"); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	must(t, os.Mkdir(host+"/dir", 0o755), os.Symlink("big", host+"/symlink"), unix.Mkfifo(host+"/fifo", 0o666), unix.Mknod(host+"/socket", unix.S_IFSOCK|0o666, 0))
	for _, name := range []string{"dir", "symlink", "fifo", "socket"} {
		if _, err := tree.Open(name); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("open %s: %v", name, err)
		}
	}
	must(t, os.WriteFile(host+"/closed", nil, 0))
	if _, err := tree.Open("closed"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("open a file that the program has closed: %v", err)
	}
}

func TestReplacedWhileRead(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	for name, change := range map[string]func(string) error{
		"file":    func(at string) error { return os.WriteFile(at, noise(4*piece), 0o644) },
		"symlink": func(at string) error { return os.Symlink("other", at) },
		"fifo":    func(at string) error { return unix.Mkfifo(at, 0o644) },
		"dir":     func(at string) error { return os.Mkdir(at, 0o755) },
		"nothing": func(string) error { return nil },
	} {
		must(t, os.WriteFile(filepath.Join(host, name), noise(4*piece), 0o644))
		f, err := tree.Open(name)
		must(t, err)
		_, err = io.ReadFull(f, make([]byte, piece))
		must(t, err)
		must(t, os.Rename(filepath.Join(host, name), filepath.Join(host, "other")), change(filepath.Join(host, name)))
		if n, err := io.Copy(io.Discard, f); err == nil || n > 0 {
			t.Errorf("replaced by %s: %d bytes more, %v", name, n, err)
		}
	}
	// A file that becomes longer or shorter is still the same one.
	must(t, os.WriteFile(host+"/log", noise(2*piece), 0o644))
	f, err := tree.Open("log")
	must(t, err)
	_, err = io.ReadFull(f, make([]byte, piece))
	must(t, err, os.Truncate(host+"/log", 0))
	if n, err := io.Copy(io.Discard, f); n != 0 || err != nil {
		t.Errorf("%d bytes of a file that was cut off, %v", n, err)
	}
}

// TestReplacedTree: the tree's own directory is no way out either.
func TestReplacedTree(t *testing.T) {
	w := start(t, func(o *Options) { o.Trees = append(o.Trees, sandbox.WorkspaceDir+"/tree") })
	_, host := w.tree(sandbox.WorkspaceDir)
	must(t, os.Mkdir(host+"/real", 0o755), os.WriteFile(host+"/real/f", []byte("x"), 0o644), os.Symlink("real", host+"/tree"))
	tree, _ := w.tree(sandbox.WorkspaceDir + "/tree")
	if _, err := tree.Open("f"); err == nil {
		t.Error("a file was opened through a link in place of the tree")
	}
	if err := tree.put("g", "x"); err == nil {
		t.Error("a file was written through a link in place of the tree")
	}
	must(t, tree.Walk(10, func(i sandbox.FileInfo) error {
		t.Errorf("%s was seen through a link in place of the tree", i.Path)
		return nil
	}))
}

func TestNames(t *testing.T) {
	w := start(t)
	tree, host := w.tree(sandbox.WorkspaceDir)
	names := []string{"a b", "ü 🦀", "new\nline", "-rf", "*", `back\slash`, "...", "\t", "a:b", "%s", strings.Repeat("n", 255), "sub dir/ü\n/x"}
	for _, name := range names {
		must(t, tree.put(name, name))
		content, err := os.ReadFile(filepath.Join(host, name))
		must(t, err)
		equal(t, "content", string(content), name)
	}
	seen := map[string]bool{}
	must(t, tree.Walk(100, func(i sandbox.FileInfo) error { seen[i.Path] = true; return nil }))
	for _, name := range names {
		if !seen[name] {
			t.Errorf("%q was not seen", name)
		}
		if got, err := readAll(tree, name); got != name || err != nil {
			t.Errorf("%q: %q, %v", name, got, err)
		}
	}
	equal(t, "names", len(seen), len(names)+2)
	if err := tree.put(strings.Repeat("n", 256), ""); !errors.Is(err, syscall.ENAMETOOLONG) {
		t.Errorf("a long name: %v", err)
	}
	if err := tree.put(strings.Repeat("n/", 4000)+"n", ""); err == nil {
		t.Error("a name that fits in no message was written")
	}
	if got, err := readAll(tree, "*"); got != "*" || err != nil {
		t.Errorf("after an error: %q, %v", got, err)
	}
}

func TestFull(t *testing.T) {
	w := start(t)
	tree, _ := w.tree(smallDir)
	for _, size := range []int{smallBytes + 1, 3 * smallBytes} {
		if err := tree.WriteFile("big", bytes.NewReader(noise(size)), 0o644); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d bytes where %d fit: %v", size, smallBytes, err)
		}
	}
	if err := tree.put("more", "x"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a byte where nothing fits: %v", err)
	}
	must(t, tree.put("big", "less"), tree.put("more", "x"))
	if got, err := readAll(tree, "big"); got != "less" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	// No more files, although there are bytes.
	var err error
	for i := 0; err == nil && i < 2*smallInodes; i++ {
		err = tree.put(strings.Repeat("f", i+1), "")
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a file where none fits: %v", err)
	}
	if err := tree.MkdirAll("dir"); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("a directory where none fits: %v", err)
	}
	got := w.sh("echo alive")
	equal(t, "what a program says then", got.stdout, "alive\n")
}

func TestUsage(t *testing.T) {
	w := start(t)
	tree, host := w.tree(smallDir)
	before, err := tree.Usage()
	must(t, err)
	if before.BytesTotal != smallBytes || before.InodesTotal != smallInodes || before.BytesUsed != 0 || before.BlockBytes != int64(os.Getpagesize()) {
		t.Errorf("empty: %+v", before)
	}
	must(t, os.WriteFile(host+"/f", noise(256<<10), 0o644))
	after, err := tree.Usage()
	must(t, err)
	equal(t, "bytes", after.BytesUsed, 256<<10)
	equal(t, "inodes", after.InodesUsed-before.InodesUsed, 1)
	equal(t, "of a tree that is not there", w.usage("/no/such"), sandbox.DiskUsage{})
	got := w.sh("head -c 1m /dev/zero >f; head -c 2m /dev/zero >/build/f")
	equal(t, "the workspace at the end", got.Disk.BytesUsed, 1<<20)
	equal(t, "the build disk at the end", got.BuildDisk.BytesUsed, 2<<20)
}
