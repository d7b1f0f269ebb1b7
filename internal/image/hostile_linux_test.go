package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// paxed is an archive of an entry that PAX records of a header come before.
func paxed(t testing.TB, e entry, records ...string) []byte {
	t.Helper()
	var text strings.Builder
	for _, r := range records {
		n := len(r) + 3 // a space, a line's end and the digits of this number
		for len(fmt.Sprint(n))+len(r)+2 != n {
			n++
		}
		fmt.Fprintf(&text, "%d %s\n", n, r)
	}
	header := archive(t, file("pax", text.String()))
	header[156] = tar.TypeXHeader
	return slices.Concat(rechecked(header[:len(header)-1024]), archive(t, e))
}

// holes is the map that a sparse file begins with, in GNU's format 1.0.
func holes(text string) string { return text + strings.Repeat("\x00", 512-len(text)) }

// TestPAX: what such records say of a file is believed as far as it can be true, and no
// extended attribute comes out of them.
func TestPAX(t *testing.T) {
	sparse := func(size string) []string {
		return []string{"GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=f", "GNU.sparse.realsize=" + size}
	}
	for name, c := range map[string]struct {
		content string
		records []string
		want    error
		size    int64
	}{
		"holes":                {holes("0\n"), sparse("10485760"), nil, 10 << 20},
		"holes over the limit": {holes("0\n"), sparse("10737418240"), ErrTooLarge, 0},
		"holes without end":    {holes("0\n"), sparse("9223372036854775807"), ErrTooLarge, 0},
		"a negative size":      {holes("0\n"), sparse("-1"), ErrCorrupt, 0},
		"a map without end":    {holes("999999999999\n"), sparse("10"), ErrCorrupt, 0},
		"a map of lies":        {holes("1\n0\n4096\n"), sparse("10"), ErrCorrupt, 0},
		"parts that overlap":   {holes("2\n0\n5\n3\n5\n") + "0123456789", sparse("10"), ErrCorrupt, 0},
		"older holes":          {"", []string{"GNU.sparse.size=1000", "GNU.sparse.numblocks=1", "GNU.sparse.map=1000,0"}, nil, 1000},
		"more older blocks":    {"", []string{"GNU.sparse.size=1000", "GNU.sparse.numblocks=1000000000", "GNU.sparse.map=0,1"}, ErrCorrupt, 0},
		"attributes":           {"x", []string{"SCHILY.xattr.security.capability=\x01\x00\x00\x02\x00\x20\x00\x00", "SCHILY.xattr.user.x=y", "LIBARCHIVE.xattr.user.z=eQ=="}, nil, 1},
		"another's":            {"x", []string{"uid=1234", "gid=1234"}, nil, 1},
		"a zero byte":          {"x", []string{"path=a\x00b"}, ErrCorrupt, 0},
		"dots":                 {"x", []string{"path=../canary/file"}, ErrHostile, 0},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, Limits{Bytes: 1 << 30})
			err := a.layer(paxed(t, file("f", c.content), c.records...))
			if !errors.Is(err, c.want) {
				t.Fatalf("got the error %v; want %v", err, c.want)
			}
			if c.want == nil {
				at := filepath.Join(a.root, "f")
				info := must[os.FileInfo](t)(os.Lstat(at))
				if n, err := unix.Llistxattr(at, nil); info.Size() != c.size || n > 0 || err != nil && !errors.Is(err, unix.ENOTSUP) {
					t.Errorf("it has %d bytes, and %d bytes of attributes, %v", info.Size(), n, err)
				}
			}
			a.check(t)
		})
	}
}

// TestDamagedStore: an image whose description was cut short is told by its digest, with
// what to do, and that helps. A lock that somebody has tidied away is made again.
func TestDamagedStore(t *testing.T) {
	s := newStore(t)
	img := s.tree(t, "a:1", file("f", "x"))
	dir := filepath.Join(s.dir, imagesDir, img.Digest[7:])
	if err := os.Remove(filepath.Join(dir, lockFile)); err != nil {
		t.Fatal(err)
	}
	lease(t, s, "a:1").Close()
	if err := os.Truncate(filepath.Join(dir, infoFile), 20); err != nil {
		t.Fatal(err)
	}
	_, listed := s.List()
	_, acquired := s.Acquire(t.Context(), "a:1")
	_, imported := s.ImportTree(t.Context(), "a:2", strings.NewReader(string(archive(t, file("f", "x")))), Config{Env: []string{"A=1"}})
	_, collected := s.GC(t.Context())
	for _, err := range []error{listed, acquired, imported, collected} {
		wantError(t, err, ErrCorrupt, img.Digest, "remove it by its digest, "+img.Digest[7:19]+", and get it again")
	}
	if err := s.Remove(t.Context(), img.Digest[7:19]); err != nil {
		t.Fatal(err)
	}
	s.tree(t, "a:1", file("f", "x"))
	lease(t, s, "a:1")
}

// TestNoRoom: on a disk of 1 MiB a large image is one sentence and leaves nothing, and
// when the disk is full to the last byte images can be removed, which makes room.
func TestNoRoom(t *testing.T) {
	disk := t.TempDir()
	if err := unix.Mount("tmpfs", disk, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("this test mounts: %v", err)
	}
	t.Cleanup(func() {
		if err := unix.Unmount(disk, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	s := openStore(t, filepath.Join(disk, "images"), Options{})
	large := func(ref string) error {
		_, err := s.ImportTree(t.Context(), ref, strings.NewReader(string(archive(t, file("f", strings.Repeat("x", 2<<20))))), Config{})
		return err
	}
	wantError(t, large("large"), ErrNoSpace, "image large, entry \"f\": no space left on device: the disk that holds "+s.dir+" is full")
	img := s.tree(t, "a:1", file("f", strings.Repeat("x", 100<<10)))
	s.tree(t, "a:2", file("f", strings.Repeat("x", 100<<10)))
	fill := must[*os.File](t)(os.Create(filepath.Join(disk, "fill")))
	defer fill.Close()
	for err := error(nil); !errors.Is(err, syscall.ENOSPC); {
		_, err = fill.Write(make([]byte, 1<<10))
	}
	wantError(t, s.Remove(t.Context(), "a:1"), ErrNoSpace, "image a:1: ", "remove images")
	if err := s.Remove(t.Context(), img.Digest); err != nil {
		t.Fatal(err)
	}
	s.tree(t, "b:1", file("f", "x"))
	if images := must[[]Image](t)(s.List()); len(images) != 1 || !slices.Equal(images[0].Names, []string{"b:1"}) || len(leftovers(t, s)) != 0 {
		t.Errorf("left %+v, %v", images, leftovers(t, s))
	}
}

// TestAsOrdinaryUser runs all of this again as somebody whom modes concern.
func TestAsOrdinaryUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("this is an ordinary user's run already")
	}
	const nobody = 65534
	dir := t.TempDir()
	for _, open := range []string{dir, dir + "/.."} {
		if err := os.Chmod(open, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.v", "-test.timeout=5m", "-test.run=^Test(Hostile|PAX|Sparse|Bombs|Whiteouts|LeftOut|Import$|ImportTampered|MountPoints|Remove|DamagedStore|ClosedToOthers|Interrupted)")
	cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir}
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	passed := strings.Count(string(out), "--- PASS")
	t.Logf("%d passed", passed)
	if err != nil || passed < 50 {
		t.Errorf("%v\n%s", err, out)
	}
}
