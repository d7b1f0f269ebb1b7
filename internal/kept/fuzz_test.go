package kept

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzKeep: whatever another server sends is a directory within its bounds, or nothing, and
// nothing beside it has changed.
func FuzzKeep(f *testing.F) {
	for _, entries := range [][]entryOf{
		{file("d/f", "x")},
		{{tar.Header{Name: "d/", Typeflag: tar.TypeDir}, ""}, file("d/f", "x"), {tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: "../../../x"}, ""}},
		{{tar.Header{Name: "l", Typeflag: tar.TypeSymlink, Linkname: ".."}, ""}, file("l/f", "x")},
		{file("../f", "x")}, {file("/f", "x")}, {file("f", "x"), file("f", "y")},
		{{tar.Header{Name: "h", Typeflag: tar.TypeLink, Linkname: "size"}, ""}},
		{{tar.Header{Name: "dev", Typeflag: tar.TypeChar}, ""}},
	} {
		var b bytes.Buffer
		w := tar.NewWriter(&b)
		for _, e := range entries {
			h := e.Header
			h.Mode, h.Size = 0o644, int64(len(e.content))
			if w.WriteHeader(&h) == nil {
				_, _ = io.WriteString(w, e.content)
			}
		}
		w.Close()
		f.Add(b.Bytes())
	}
	memory := "/dev/shm" // what is kept is written to the disk, which takes its time
	if _, err := os.Stat(memory); err != nil {
		memory = ""
	}
	limits := Limits{EntryBytes: 64 << 10, EntryNames: 20, OwnerBytes: 1 << 20, TotalBytes: 1 << 20, OwnerEntries: 2, TotalEntries: 2, Uploads: 1, TenantUploads: 1}
	f.Fuzz(func(t *testing.T, archive []byte) {
		dir, err := os.MkdirTemp(memory, "kept-") //nolint:usetesting // on another file system
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		s, err := Open(filepath.Join(dir, "kept"), limits)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		failed := s.Keep(t.Context(), key, bytes.NewReader(archive))
		names, bytes := 0, int64(0)
		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			_, below, found := strings.Cut(path, "/"+treeName+"/")
			if !found || !strings.HasPrefix(path, s.dir) {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			names++
			if info.Mode().IsRegular() {
				bytes += info.Size()
			}
			if kind := info.Mode().Type(); kind&^(fs.ModeDir|fs.ModeSymlink) != 0 || info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
				t.Errorf("%s is %v", below, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if names > int(limits.EntryNames) || bytes > limits.EntryBytes || failed != nil && names > 0 {
			t.Errorf("%d names with %d bytes are there: %v", names, bytes, failed)
		}
		if ok, err := s.Has(key); ok != (failed == nil) || err != nil {
			t.Errorf("kept: %v, %v, after %v", ok, err, failed)
		}
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
			t.Errorf("beside it: %v, %v", entries, err)
		}
	})
}
