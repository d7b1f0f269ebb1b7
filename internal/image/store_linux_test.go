package image

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// tree imports a root file system of these entries.
func (s *Store) tree(t testing.TB, ref string, entries ...entry) Image {
	t.Helper()
	return must[Image](t)(s.ImportTree(t.Context(), ref, strings.NewReader(string(archive(t, entries...))), Config{Env: []string{"A=1"}}))
}

// TestImportTree: a root file system becomes an image, whose digest depends on
// nothing else.
func TestImportTree(t *testing.T) {
	s := newStore(t)
	img := s.tree(t, "mine", file("f", "x"), special("dev/null", '3'))
	l := lease(t, s, "mine")
	if got := listing(t, l.Root()); got["f"] != "-rw-r--r-- x" || l.Config.Env[0] != "A=1" || l.LeftOut.Count != 1 {
		t.Errorf("imported %v, %+v", got, l.Image)
	}
	if again := newStore(t).tree(t, "other", file("f", "x"), special("dev/null", '3')); again.Digest != img.Digest {
		t.Error("the same tree has another digest")
	}
	if other := s.tree(t, "other", file("f", "y")); other.Digest == img.Digest {
		t.Error("another tree has the same digest")
	}
	_, err := s.ImportTree(t.Context(), "bad", strings.NewReader(string(archive(t, file("../x", "x")))), Config{})
	wantError(t, err, ErrHostile, "image bad, entry \"../x\"")
	for part, want := range map[int]error{0: ErrUnsupported, 512: ErrCorrupt, 513: ErrCorrupt, 1024: ErrCorrupt, 1030: ErrCorrupt} {
		_, err = s.ImportTree(t.Context(), "bad", bytes.NewReader(archive(t, dir("d"), file("f", "x"))[:part]), Config{})
		wantError(t, err, want, "image bad")
	}
	_, err = s.ImportTree(t.Context(), "bad", strings.NewReader(""), Config{Env: []string{"A"}})
	wantError(t, err, ErrHostile, "NAME=value")
	_, err = s.ImportTree(t.Context(), "bad", strings.NewReader(""), Config{User: "a\x00b"})
	wantError(t, err, ErrHostile, "zero byte")
	if left := leftovers(t, s); len(left) != 0 {
		t.Errorf("left in tmp: %v", left)
	}
}

// TestConfig: what is for other machines is refused; what does not say is not.
func TestConfig(t *testing.T) {
	for raw, want := range map[string]error{
		"{}": nil,
		`{"os":"linux","architecture":"` + runtime.GOARCH + `"}`:           nil,
		`{"os":"windows","architecture":"` + runtime.GOARCH + `"}`:         ErrPlatform,
		`{"os":"linux","architecture":"s390x"}`:                            ErrPlatform,
		`{"architecture":"s390x"}`:                                         ErrPlatform,
		`{"config":{"Env":["x"]}}`:                                         ErrHostile,
		`{"config":{"Env":["=x"]}}`:                                        ErrHostile,
		`{"config":{"Cmd":["\u0000"]}}`:                                    ErrHostile,
		`[]`:                                                               ErrCorrupt,
		`{"config":{"Env":["A=` + strings.Repeat("x", 127<<10) + `"]}}`:    nil,
		`{"config":{"Env":["A=` + strings.Repeat("x", 128<<10) + `"]}}`:    ErrTooLarge,
		`{"config":{"Env":["A="` + strings.Repeat(`,"A="`, 12<<10) + `]}}`: ErrTooLarge,
	} {
		if _, _, err := configOf([]byte(raw)); !errors.Is(err, want) {
			t.Errorf("%.100s: %v; want %v", raw, err, want)
		}
	}
}

// TestMountPoints: an image whose /dev leads elsewhere is refused; runc was led
// out by one (CVE-2026-41579).
func TestMountPoints(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"dev", "proc", "sys", "etc", "tmp"} {
		for _, e := range []entry{link(name, "usr"), file(name, "x"), link(name, "/proc")} {
			_, err := s.ImportTree(t.Context(), "bad", strings.NewReader(string(archive(t, dir("usr"), e))), Config{})
			wantError(t, err, ErrHostile, "/"+name)
		}
	}
}

// TestNames: an image has the names that it was given, as engines write them.
func TestNames(t *testing.T) {
	s := newStore(t)
	img := s.tree(t, "python:3.12", file("f", "x"))
	for _, ref := range []string{"python:3.12", "library/python:3.12", "docker.io/library/python:3.12", img.Digest, img.Digest[7:], img.Digest[7:19], "python@" + img.Digest} {
		if l := lease(t, s, ref); l.Digest != img.Digest || !slices.Equal(l.Names, []string{"python:3.12"}) {
			t.Errorf("%s: %+v", ref, l.Image)
		}
	}
	for _, ref := range []string{"python", "python:3", "quay.io/python:3.12", img.Digest[7:18], "sha256:" + strings.Repeat("0", 64), "", "../..", "/", "sha256:", "a b"} {
		_, err := s.Acquire(t.Context(), ref)
		wantError(t, err, ErrNotFound, ref)
	}
}

// TestRemove: names go one by one, and the image with the last of them.
func TestRemove(t *testing.T) {
	s := newStore(t)
	img := s.tree(t, "a:1", file("f", "x"))
	s.tree(t, "a:2", file("f", "x"))
	if err := s.Remove(t.Context(), "a:1"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Acquire(t.Context(), "a:1")
	wantError(t, err, ErrNotFound)
	held := lease(t, s, "a:2")
	wantError(t, s.Remove(t.Context(), "a:2"), ErrInUse, "image a:2", "in use")
	wantError(t, s.Remove(t.Context(), img.Digest), ErrInUse)
	if got := listing(t, held.Root()); got["f"] == "" || len(must[[]Image](t)(s.List())[0].Names) != 1 {
		t.Errorf("the image in use has %v", got)
	}
	fork := must[int](t)(syscall.Dup(int(held.lock.Fd()))) // as a child has it until it is executed
	defer syscall.Close(fork)
	held.Close()
	if err := s.Remove(t.Context(), "a:2"); err != nil {
		t.Error(err)
	}
}

// TestLeaseOfWhatWasRemoved: a lock that was opened before the image was removed
// is not that of the one that has come in its place.
func TestLeaseOfWhatWasRemoved(t *testing.T) {
	s := newStore(t)
	img := s.tree(t, "a:1", file("f", "x"))
	digest := must[v1.Hash](t)(v1.NewHash(img.Digest))
	lock := must[*os.File](t)(s.openLock(digest))
	if err := s.Remove(t.Context(), "a:1"); err != nil {
		t.Fatal(err)
	}
	s.tree(t, "a:1", file("f", "x"))
	_, err := s.lease(t.Context(), digest, lock)
	wantError(t, err, ErrNotFound, "removed")
}

// TestRemoveFrees: nothing is left of an image that was removed by its digest.
func TestRemoveFrees(t *testing.T) {
	s := newStore(t)
	img := s.tree(t, "a:1", mode(dir("closed"), 0), file("closed/f", "x"))
	s.tree(t, "a:2", mode(dir("closed"), 0), file("closed/f", "x"))
	if err := s.Remove(t.Context(), img.Digest); err != nil {
		t.Fatal(err)
	}
	wantError(t, s.Remove(t.Context(), img.Digest), ErrNotFound)
	names := must[map[string]v1.Hash](t)(s.names())
	if images := must[[]Image](t)(s.List()); len(images)+len(names)+len(leftovers(t, s)) != 0 {
		t.Errorf("left: %v, %v, %v", images, names, leftovers(t, s))
	}
	s.tree(t, "a:1", file("f", "x")) // it can come back
	lease(t, s, "a:1")
}

// TestGCKeepsNames: what has a name stays, what has none goes.
func TestGCKeepsNames(t *testing.T) {
	s := newStore(t)
	old := s.tree(t, "a:1", file("f", "old"))
	s.tree(t, "a:1", file("f", "new"))
	s.tree(t, "b:1", file("f", "b"))
	removed, err := s.GC(t.Context())
	if err != nil || len(removed) != 1 || removed[0].Digest != old.Digest {
		t.Errorf("removed %+v, %v", removed, err)
	}
	var names []string
	for _, img := range must[[]Image](t)(s.List()) {
		names = append(names, img.Names...)
	}
	if !slices.Equal(names, []string{"a:1", "b:1"}) {
		t.Errorf("the images are %v", names)
	}
}

// TestClosedToOthers: nobody else can enter the store, whatever its directory was.
func TestClosedToOthers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "images")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir, Options{})
	if info := must[os.FileInfo](t)(os.Stat(dir)); info.Mode().Perm() != 0o700 {
		t.Errorf("the store has the mode %s", info.Mode())
	}
}

// TestInterrupted: what an interrupted pull leaves is not seen and goes at the
// next start, unless somebody is still at it.
func TestInterrupted(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, dir, Options{})
	w := must[*work](t)(s.scratch(t.Context()))
	if err := os.MkdirAll(filepath.Join(dir, w.path, "root/x"), 0o700); err != nil {
		t.Fatal(err)
	}
	openStore(t, dir, Options{})
	if len(leftovers(t, s)) != 1 || len(must[[]Image](t)(s.List())) != 0 {
		t.Errorf("while it is made: %v", leftovers(t, s))
	}
	w.lock.Close() // as the end of a process does
	openStore(t, dir, Options{})
	if left := leftovers(t, s); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestFullDisk: a full disk is said to be that, with what to do.
func TestFullDisk(t *testing.T) {
	s := newStore(t)
	for _, errno := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		cause := &Error{Layer: 1, Layers: 2, Entry: "usr/f", Err: &fs.PathError{Op: "write", Path: "x", Err: errno}}
		err := s.about("a:1", fmt.Errorf("unpack: %w", cause))
		wantError(t, err, ErrNoSpace, "image a:1, layer 1 of 2, entry \"usr/f\"", s.dir, "remove images")
	}
}

// TestHelper is the process that TestKilled kills. It is no test by itself.
func TestHelper(t *testing.T) {
	dir, ref, ok := strings.Cut(os.Getenv("IMAGE_TEST_PULL"), " ")
	if !ok {
		t.Skip("a helper of TestKilled")
	}
	s := must[*Store](t)(Open(dir, Options{}))
	_, err := s.Pull(t.Context(), ref)
	t.Fatalf("the pull has ended: %v", err)
}

// TestKilled: a process that is killed in the middle of a pull leaves nothing
// that is seen, and does not keep others from pulling.
func TestKilled(t *testing.T) {
	r := newServer(t)
	ref := r.push(t, "a:1", sample(t))
	reached, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	r.intercept(func(w http.ResponseWriter, q *http.Request) bool {
		if strings.Contains(q.URL.Path, "/blobs/") && q.UserAgent() != "" && r.blobs.Load() >= 2 {
			once.Do(func() { close(reached) })
			select {
			case <-release:
			case <-q.Context().Done():
			}
		}
		return false
	})
	s := newStore(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestHelper$")
	cmd.Env = append(os.Environ(), "IMAGE_TEST_PULL="+s.dir+" "+ref)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	if len(leftovers(t, s)) != 1 {
		t.Errorf("while it pulls: %v", leftovers(t, s))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed, as it was meant to be
	close(release)
	if images := must[[]Image](t)(s.List()); len(images) != 0 {
		t.Errorf("half an image is seen: %v", images)
	}
	openStore(t, s.dir, Options{})
	if left := leftovers(t, s); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	if _, err := s.Pull(t.Context(), ref); err != nil {
		t.Error(err)
	}
}

// TestAbandoned: a process that was killed where nothing is locked, at the very
// beginning or the very end.
func TestAbandoned(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"empty", "full"} {
		if err := os.Mkdir(filepath.Join(s.dir, workDir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, workDir, "full", lockFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.reclaim(); err != nil || len(leftovers(t, s)) != 0 {
		t.Errorf("left %v, %v", leftovers(t, s), err)
	}
}

// TestWaiting for a lock ends with its context.
func TestWaiting(t *testing.T) {
	s := newStore(t)
	digest := sha256Of([]byte("x"))
	w := must[*work](t)(s.claim(t.Context(), digest))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() {
		_, err := s.claim(ctx, digest)
		done <- err
	}()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("waiting has ended with %v", err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
}

// TestTogether: stores of several processes import, lease, remove and collect the
// same images at once; whoever has a lease has a whole image.
func TestTogether(t *testing.T) {
	dir := t.TempDir()
	data := string(archive(t, file("1", "x"), file("2", "x"), file("3", "x")))
	var wg sync.WaitGroup
	for range 4 {
		s := openStore(t, dir, Options{})
		wg.Go(func() {
			for range 10 {
				if _, err := s.ImportTree(t.Context(), "a:1", strings.NewReader(data), Config{}); err != nil {
					t.Error(err)
				}
				l, err := s.Acquire(t.Context(), "a:1")
				if err == nil {
					if got := listing(t, l.Root()); len(got) != 8 {
						t.Errorf("the image has %v", got)
					}
					l.Close()
				} else if !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
				if err := s.Remove(t.Context(), "a:1"); err != nil && !errors.Is(err, ErrInUse) && !errors.Is(err, ErrNotFound) {
					t.Error(err)
				}
				if _, err := s.GC(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if left := leftovers(t, openStore(t, dir, Options{})); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}
