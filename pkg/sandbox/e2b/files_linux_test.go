package e2b_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b/e2btest"
)

// Folders of the host are copied, and the program changes its own copy alone.
func TestUploadedFolders(t *testing.T) {
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+"\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	spec := small
	spec.BuildDisk = small.Disk
	spec.Mounts = []sandbox.Mount{
		{Source: dir, Target: "/opt/read"}, {Source: dir, Target: "/opt/layer", Overlay: true},
		{Source: filepath.Join(dir, "data"), Target: "/opt/one"}, {Source: dir + "/none", Target: "/opt/none", Optional: true},
	}
	_, _, c := start(t, spec)
	mustPrint(t, c, "/opt/read/tool; /opt/layer/tool; cat /opt/one | tail -1; ls -d /opt/none 2>/dev/null", "tool\ntool\necho data\n")
	mustPrint(t, c, "exec 2>&1; echo x >/opt/read/data || echo closed; rm -f /opt/read/tool || echo kept; echo x >/opt/layer/data && cat /opt/layer/data", "/bin/sh: 1: cannot create /opt/read/data: Permission denied\nclosed\nrm: cannot remove '/opt/read/tool': Permission denied\nkept\nx\n")
	if content, _ := os.ReadFile(filepath.Join(dir, "data")); string(content) != "#!/bin/sh\necho data\n" {
		t.Errorf("the host's file says %q", content)
	}
}

// What does not fit is ENOSPC, as on a disk; a deep tree is walked up to the
// number that was asked for.
func TestFileBounds(t *testing.T) {
	_, _, c := start(t, sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 200}})
	tree, err := c.Files("/workspace")
	if err != nil {
		t.Fatal(err)
	}
	if err := tree.WriteFile("big", io.LimitReader(zeros{}, 2<<20), 0o644); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v", err)
	}
	if err := tree.WriteFile("half", io.LimitReader(zeros{}, 600<<10), 0o644); err != nil {
		if !errors.Is(err, syscall.ENOSPC) { // the first one may have stayed
			t.Error(err)
		}
	}
	mustPrint(t, c, "rm -f big half; mkdir -p a/b/c; touch a/1 a/2 a/b/3 a/b/c/4; ln -s /etc a/link; mkfifo a/fifo", "")
	seen := map[string]fs.FileMode{}
	if err := tree.Walk(100, func(i sandbox.FileInfo) error { seen[i.Path] = i.Mode.Type(); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 9 || seen["a/link"] != fs.ModeSymlink || seen["a/fifo"] != fs.ModeNamedPipe || !seen["a/b/c"].IsDir() {
		t.Errorf("%v", seen)
	}
	n := 0
	if err := tree.Walk(3, func(sandbox.FileInfo) error { n++; return nil }); err != nil || n != 3 {
		t.Errorf("%d names, %v", n, err)
	}
	for _, name := range []string{"a/link", "a/fifo", "a", "a/link/passwd", "../etc/passwd", "none"} {
		if f, err := tree.Open(name); err == nil {
			f.Close()
			t.Errorf("%s was opened", name)
		}
	}
	if err := tree.MkdirAll("a/link/x"); err == nil {
		t.Error("a directory was made behind a link")
	}
	if err := tree.WriteFile("a/b", strings.NewReader("x"), 0o644); err == nil {
		t.Error("a directory was replaced")
	}
	if err := errors.Join(tree.MkdirAll("x/y"), tree.WriteFile("x/y/z", strings.NewReader("z"), 0o700)); err != nil {
		t.Error(err)
	}
	mustPrint(t, c, "stat -c '%U %a' x x/y x/y/z", "sandbox 755\nsandbox 755\nsandbox 700\n")
	if u, err := tree.Usage(); err != nil || u.BytesTotal != 1<<20 || u.InodesTotal != 200 || u.InodesUsed == 0 {
		t.Errorf("%+v %v", u, err)
	}
	if _, err := c.Files("/etc"); err == nil {
		t.Error("files of the template were opened")
	}
}

// What is cut off on its way is an error, and no shorter file or list.
func TestAnswersThatEndEarly(t *testing.T) {
	s, _, c := start(t, small)
	mustPrint(t, c, "printf content >file", "")
	tree, err := c.Files("/workspace")
	if err != nil {
		t.Fatal(err)
	}
	s.Fail(e2btest.On("GET", "/files", 1, e2btest.Status(200, "con")))
	s.Fail(e2btest.On("POST", "/filesystem.Filesystem/ListDir", 1, e2btest.Status(200, `{"entries":[{"name":"file","type":"FILE_TYPE_FILE"}`)))
	f, err := tree.Open("file")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if content, err := io.ReadAll(f); string(content) != "con" || !errors.As(err, new(*e2b.TransientError)) {
		t.Errorf("%q, %v", content, err)
	}
	if err := tree.Walk(10, func(sandbox.FileInfo) error { return nil }); !errors.As(err, new(*e2b.TransientError)) {
		t.Errorf("walk: %v", err)
	}
	if got := readFile(t, tree, "file"); got != "content" {
		t.Errorf("the file says %q", got)
	}
}
