package kept

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

func opened(t *testing.T, limits Limits) (*Store, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "kept")
	s, err := Open(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, dir
}

// entry is one of an archive; one with a size and no content is a lie.
type entryOf struct {
	tar.Header
	content string
}

func archive(t *testing.T, entries ...entryOf) io.Reader {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, e := range entries {
		if e.Size == 0 {
			e.Size = int64(len(e.content))
		}
		if err := w.WriteHeader(&e.Header); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, e.content)
	}
	_ = w.Close() // fails where an entry lies, and what was written is the archive
	return &b
}

func file(name, content string) entryOf { return entryOf{tar.Header{Name: name}, content} }

var key = Key{Owner: "a", Image: "sha256:1", Name: "go-1.26"}

func TestHostileArchives(t *testing.T) {
	limits := DefaultLimits()
	limits.EntryBytes, limits.EntryNames = 1<<20, 100
	many := make([]entryOf, 101)
	for i := range many {
		many[i] = file(strings.Repeat("x", i+1), "")
	}
	for name, entries := range map[string][]entryOf{
		"out of it":              {file("../x", "x")},
		"out of it, later":       {file("a/../../x", "x")},
		"absolute":               {file("/etc/x", "x")},
		"a link to nothing":      {{tar.Header{Name: "l", Typeflag: tar.TypeSymlink}, ""}},
		"a directory in a link":  {file("a/x", "x"), {tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "a"}, ""}, {tar.Header{Name: "l/d/", Typeflag: tar.TypeDir}, ""}},
		"a file through a link":  {{tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, ""}, file("l/x", "x")},
		"a hard link":            {file("a", "x"), {tar.Header{Name: "l", Typeflag: tar.TypeLink, Linkname: "a"}, ""}},
		"a device":               {{tar.Header{Name: "d", Typeflag: tar.TypeChar, Devmajor: 1, Devminor: 3}, ""}},
		"a FIFO":                 {{tar.Header{Name: "f", Typeflag: tar.TypeFifo}, ""}},
		"the same file twice":    {file("a", "x"), file("a", "y")},
		"a file as a directory":  {file("a", "x"), file("a/b", "y")},
		"a directory, then file": {{tar.Header{Name: "a/", Typeflag: tar.TypeDir}, ""}, file("a", "y")},
		"many names":             many,
		"a large file":           {file("a", strings.Repeat("x", 2<<20))},
		"many bytes":             {file("a", strings.Repeat("x", 600<<10)), file("b", strings.Repeat("x", 600<<10))},
		"a size that is a lie":   {{tar.Header{Name: "a", Size: 1 << 19}, "short"}},
		"a deep name":            {file(strings.Repeat("d/", 100)+"x", "x")},
		"a long name":            {file(strings.Repeat("n", 2000), "x")},
		"the root itself":        {file(".", "x")},
	} {
		s, dir := opened(t, limits)
		if err := s.Keep(t.Context(), key, archive(t, entries...)); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v, want it refused", name, err)
		}
		if ok, err := s.Has(key); ok || err != nil {
			t.Errorf("%s is kept", name)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "[^l]*")); len(left) > 0 { // all but the lock
			t.Errorf("%s leaves %v", name, left)
		}
	}
}

func TestNames(t *testing.T) {
	s, _ := opened(t, DefaultLimits())
	for _, name := range []string{"", ".", "..", "../x", "a/b", ".hidden", strings.Repeat("x", 200), "a\x00b"} {
		if err := s.Keep(t.Context(), Key{Owner: "a", Image: "b", Name: name}, archive(t)); !errors.Is(err, ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A link is kept as it is: where it leads is for programs in a container to see.
func TestLinksAreKept(t *testing.T) {
	s, _ := opened(t, DefaultLimits())
	if err := s.Keep(t.Context(), key, archive(t, file("a/f", "x"), entryOf{tar.Header{Name: "a/out", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, ""})); err != nil {
		t.Fatal(err)
	}
	path, release, err := s.Hold(key)
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	if to, err := os.Readlink(filepath.Join(path, "a/out")); to != "/etc/passwd" || err != nil {
		t.Errorf("the link leads to %q, %v", to, err)
	}
}

// Two servers may have one directory: what one keeps the other has, and what a container of one
// uses the other does not remove.
func TestTwoServers(t *testing.T) {
	limits := DefaultLimits()
	limits.OwnerBytes = 3 * pageBytes // one small file
	one, dir := opened(t, limits)
	other, err := Open(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	named := func(name string) Key { return Key{Owner: "a", Image: "b", Name: name} }
	keep := func(s *Store, name string, want error) {
		t.Helper()
		if err := s.Keep(t.Context(), named(name), archive(t, file("f", name))); !errors.Is(err, want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	keep(one, "1", nil)
	keep(other, "1", nil)
	if ok, err := other.Has(named("1")); !ok || err != nil {
		t.Errorf("the other has it: %v, %v", ok, err)
	}
	_, release, err := other.Hold(named("1"))
	if err != nil {
		t.Fatal(err)
	}
	keep(one, "2", ErrFull)
	release()
	keep(one, "2", nil)
	if ok, err := other.Has(named("1")); ok || err != nil {
		t.Errorf("the other has what is gone: %v, %v", ok, err)
	}
	if _, _, err := other.Hold(named("1")); !errors.Is(err, ErrNotKept) {
		t.Errorf("the other holds what is gone: %v", err)
	}
	keep(other, "3", nil)
}

func TestKeepAndHold(t *testing.T) {
	for name, limit := range map[string]func(*Limits){
		"bytes":       func(l *Limits) { l.OwnerBytes = 3 * 3 * pageBytes }, // three small files
		"directories": func(l *Limits) { l.OwnerEntries = 3 },
	} {
		t.Run(name, func(t *testing.T) {
			limits := DefaultLimits()
			limit(&limits)
			keepAndHold(t, limits)
		})
	}
}

// keepAndHold keeps a fourth directory where an owner may have three.
func keepAndHold(t *testing.T, limits Limits) {
	s, dir := opened(t, limits)
	named := func(name string) Key { return Key{Owner: "a", Image: "b", Name: name} }
	for _, name := range []string{"1", "2", "3"} {
		if err := s.Keep(t.Context(), named(name), archive(t, file("f", name))); err != nil {
			t.Fatal(err)
		}
	}
	path, release, err := s.Hold(named("1"))
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(path, "f")); string(text) != "1" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	has := func(s *Store, name string, want bool) {
		t.Helper()
		if ok, err := s.Has(named(name)); ok != want || err != nil {
			t.Errorf("%s is kept: %v, %v", name, ok, err)
		}
	}
	if err := s.Keep(t.Context(), named("4"), archive(t, file("f", "4"))); err != nil {
		t.Fatal(err)
	}
	has(s, "1", true) // it is in use
	has(s, "2", false)
	has(s, "4", true)
	if err := s.Keep(t.Context(), Key{Owner: "other", Image: "b", Name: "1"}, archive(t, file("f", "x"))); err != nil {
		t.Errorf("another owner: %v", err)
	}
	has(s, "3", true)
	release()
	again, err := Open(dir, limits)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	has(again, "4", true)
	has(again, "2", false)
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory is open to others: %v, %v", info.Mode(), err)
	}
}

// What all have together is bounded as what one has: whose was not used for longest goes.
func TestRoomOfAll(t *testing.T) {
	for name, limit := range map[string]func(*Limits){
		"bytes":       func(l *Limits) { l.TotalBytes = 2 * 3 * pageBytes }, // two small files
		"directories": func(l *Limits) { l.TotalEntries = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			limits := DefaultLimits()
			limit(&limits)
			s, _ := opened(t, limits)
			owners := []string{"a", "b", "c"}
			for _, owner := range owners {
				if err := s.Keep(t.Context(), Key{Owner: owner, Image: "b", Name: "1"}, archive(t, file("f", owner))); err != nil {
					t.Fatal(err)
				}
			}
			for _, owner := range owners {
				if ok, err := s.Has(Key{Owner: owner, Image: "b", Name: "1"}); ok != (owner != "a") || err != nil {
					t.Errorf("that of %s is kept: %v, %v", owner, ok, err)
				}
			}
		})
	}
}

// What is on its way holds what somebody else chose: nothing in it is taken for what is
// noted about a directory, at the next start or at another server's on the same directory.
func TestOnItsWay(t *testing.T) {
	s, dir := opened(t, DefaultLimits())
	if err := s.Keep(t.Context(), key, archive(t, file("f", "x"))); err != nil {
		t.Fatal(err)
	}
	var ways []string
	for _, size := range []string{"8000000000000000000", "-8000000000000000000", "x"} {
		w, err := s.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.end)
		u := unpacker{ctx: t.Context(), root: w.tree, limits: s.limits}
		if err := u.unpack(archive(t, file("d/size", size))); err != nil {
			t.Fatal(err)
		}
		ways = append(ways, filepath.Join(dir, w.name, treeName, "d", sizeName))
	}
	again, err := Open(dir, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if len(again.entries) != 1 {
		t.Errorf("%d directories are kept, want the one", len(again.entries))
	}
	other := key
	other.Name = "other"
	if err := again.Keep(t.Context(), other, archive(t, file("f", "x"))); err != nil {
		t.Error(err)
	}
	if ok, err := again.Has(key); !ok || err != nil {
		t.Errorf("what was kept had to make room: %v, %v", ok, err)
	}
	for _, way := range ways {
		if _, err := os.Stat(way); err != nil {
			t.Errorf("somebody's upload is gone: %v", err)
		}
	}
}

// What was on its way when its maker died goes, with the next start or with gc, and with no
// other: that of a living one is locked.
func TestAbandoned(t *testing.T) {
	s, dir := opened(t, DefaultLimits())
	living, err := s.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer living.end()
	left := func() (names []string) {
		t.Helper()
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if e.Name() != lockName {
				names = append(names, filepath.Join(dir, e.Name()))
			}
		}
		return names
	}
	abandon := func() string {
		t.Helper()
		w, err := s.begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		u := unpacker{ctx: t.Context(), root: w.tree, limits: s.limits}
		if err := u.unpack(archive(t, file(strings.Repeat("d/", maxDepth-1)+"f", "x"))); err != nil {
			t.Fatal(err)
		}
		w.size.Close() // as the end of its process would
		w.tree.Close()
		return filepath.Join(dir, w.name)
	}
	dead := abandon()
	removed, err := Reclaim(dir)
	if err != nil || !slices.Equal(removed, []string{dead}) || !slices.Equal(left(), []string{filepath.Join(dir, living.name)}) {
		t.Errorf("removed %q, %v; left %q", removed, err, left())
	}
	abandon()
	again, err := Open(dir, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if len(left()) != 1 {
		t.Errorf("after a start: %q", left())
	}
	if removed, err := Reclaim(filepath.Join(dir, "none")); err != nil || removed != nil {
		t.Errorf("nothing there: %q, %v", removed, err)
	}
}

// Who keeps sending, with however many keys, shuts nobody else out, and what is over makes
// room for the next.
func TestUploads(t *testing.T) {
	limits := DefaultLimits()
	limits.Uploads, limits.TenantUploads = 3, 2
	s, _ := opened(t, limits)
	keys := 0
	// begun begins an upload, and tells how to end it; nil when it is refused.
	begun := func(tenant string) (end func()) {
		t.Helper()
		keys++
		k := Key{Owner: fmt.Sprint(tenant, keys), Tenant: tenant, Image: "b", Name: "x"}
		read, pipe := io.Pipe()
		result := make(chan error, 1)
		go func() { result <- s.Keep(t.Context(), k, read) }()
		wrote := make(chan error, 1)
		go func() {
			_, err := pipe.Write([]byte{0}) // is taken once the upload goes on
			wrote <- err
		}()
		select {
		case err := <-result:
			read.Close()
			if !errors.Is(err, ErrFull) {
				t.Error(err)
			}
			return nil
		case <-wrote:
			end = sync.OnceFunc(func() { pipe.Close(); <-result })
			t.Cleanup(end)
			return end
		}
	}
	first := begun("a")
	for i, c := range []struct {
		tenant string
		want   bool
	}{{"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", false}} {
		if end := begun(c.tenant); (end != nil) != c.want {
			t.Errorf("upload %d, of %s: %v", i, c.tenant, end != nil)
		}
	}
	first()
	if begun("c") == nil {
		t.Error("one is over, and its place is not given back")
	}
}

// A directory about which something impossible is noted, or nothing, goes, and its name
// is free.
func TestOddSizes(t *testing.T) {
	for _, size := range []string{"8000000000000000000", "-1", "x", ""} {
		s, dir := opened(t, DefaultLimits())
		if err := s.Keep(t.Context(), key, archive(t, file("f", "x"))); err != nil {
			t.Fatal(err)
		}
		name, _ := key.path()
		noted := filepath.Join(dir, name, sizeName)
		if err := os.Remove(noted); err != nil {
			t.Fatal(err)
		}
		if size != "" {
			if err := os.WriteFile(noted, []byte(size), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		again, err := Open(dir, DefaultLimits())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { again.Close() })
		if ok, err := again.Has(key); ok || err != nil {
			t.Errorf("with size %q it is kept: %v, %v", size, ok, err)
		}
		if err := again.Keep(t.Context(), key, archive(t, file("f", "x"))); err != nil {
			t.Errorf("after size %q: %v", size, err)
		}
	}
}

// A time that no file system has is none.
func TestOddTimes(t *testing.T) {
	s, _ := opened(t, DefaultLimits())
	for i, at := range []time.Time{time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC), time.Unix(-1<<60, 0)} {
		odd := file("f", "x")
		odd.ModTime, odd.Format = at, tar.FormatPAX
		k := Key{Owner: "a", Image: "b", Name: strconv.Itoa(i)}
		if err := s.Keep(t.Context(), k, archive(t, odd)); err != nil {
			t.Fatal(err)
		}
		dir, release, err := s.Hold(k)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(release)
		if info, err := os.Stat(filepath.Join(dir, "f")); err != nil || time.Since(info.ModTime()).Abs() > time.Hour {
			t.Errorf("%v has become %v, %v", at, info.ModTime(), err)
		}
	}
}
