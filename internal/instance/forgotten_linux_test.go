package instance

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Only a name of ours whose number has no file is forgotten.
func TestForgotten(t *testing.T) {
	dir := runtimeDir(t)
	if err := os.WriteFile(filepath.Join(dir, "i0007"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const name = "i1234-0123456789abcdef"
	for made, want := range map[string]string{
		name: name, name + "-1": name, name + "-12-3": name, name + "-t0123456789abcdef": name,
		"i0007-0123456789abcdef": "", "i0007-0123456789abcdef-1": "", // its own, or its next owner's
		"": "", "i1234": "", "i1234-": "", "i1234-1": "", "foreign": "", "i1234-0123456789abcde": "", "i1234-0123456789abcdef0": "",
		"xi1234-0123456789abcdef": "", "i1234-0123456789ABCDEF": "", "i123-0123456789abcdef": "", "i12345-0123456789abcdef": "",
		"1234-0123456789abcdef": "", "ii1234-0123456789abcdef": "", "i+234-0123456789abcdef": "", "i1234_0123456789abcdef": "",
	} {
		if got := Forgotten(dir, made); got != want {
			t.Errorf("%q is of %q, want %q", made, got, want)
		}
	}
}

// forgotten are the directories that would be removed.
func forgotten(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := ForgottenDirs(dir, func(path, name string) error {
		if path != dirOf(name) {
			t.Errorf("%s of %s", path, name)
		}
		found = append(found, path)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return found
}

func TestForgottenDirs(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	dir := runtimeDir(t)
	i, err := New(dir, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(i.MakeDir(), i.MakeDir()); err != nil {
		t.Fatal(err)
	}
	outside := t.TempDir()
	err = errors.Join(
		os.Mkdir(filepath.Join(os.TempDir(), dirPrefix+"foreign"), 0o700),
		os.Mkdir(filepath.Join(os.TempDir(), dirPrefix+"i1234-foreign"), 0o700),
		os.Mkdir(dirOf("i1234-0123456789abcdef")+"-1", 0o700), // no instance's directory has more of a name
		os.Symlink(outside, dirOf("i1234-0123456789abcdef")),
		os.WriteFile(dirOf("i1234-1123456789abcdef"), nil, 0o600),
	)
	if os.Geteuid() == 0 {
		other := dirOf("i1234-2123456789abcdef")
		err = errors.Join(err, os.Mkdir(other, 0o700), os.Chown(other, 12345, 12345))
	}
	if err != nil {
		t.Fatal(err)
	}
	if found := forgotten(t, dir); len(found) > 0 {
		t.Errorf("with its file: %q", found)
	}
	if err := os.Remove(i.path); err != nil {
		t.Fatal(err)
	}
	if found := forgotten(t, dir); len(found) > 0 {
		t.Errorf("of one that lives: %q", found)
	}
	// A cleaner of temporary files has removed it: the next one is locked as well.
	if err := errors.Join(os.Remove(i.Dir), i.MakeDir()); err != nil {
		t.Fatal(err)
	}
	if found := forgotten(t, dir); len(found) > 0 {
		t.Errorf("of one that lives, made anew: %q", found)
	}
	i.held.Close() // as its death does
	if found := forgotten(t, dir); !slices.Equal(found, []string{i.Dir}) {
		t.Errorf("of one that is dead: %q", found)
	}
	i.Release(false)
	if _, err := os.Lstat(i.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}
