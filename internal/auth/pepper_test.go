package auth

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestPepperIsMadeOnce(t *testing.T) {
	dir := t.TempDir()
	var group sync.WaitGroup
	peppers := make([]pepper, 8)
	for i := range peppers {
		group.Go(func() {
			p, err := loadPepper(dir, false)
			if err != nil {
				t.Error(err)
			}
			peppers[i] = p
		})
	}
	group.Wait()
	for _, p := range peppers {
		if len(p) != pepperBytes || !bytes.Equal(p, peppers[0]) || bytes.Equal(p, make([]byte, pepperBytes)) {
			t.Errorf("%x beside %x", p, peppers[0])
		}
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Error(entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, pepperName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info.Mode(), err)
	}
}

func TestPepperErrors(t *testing.T) {
	for _, c := range []struct {
		name, content string
		mode          os.FileMode
		want          string
	}{
		{"empty", "", 0o600, "is damaged"},
		{"short", strings.Repeat("x", pepperBytes-1), 0o600, "is damaged"},
		{"long", strings.Repeat("x", pepperBytes+1), 0o600, "is damaged"},
		{"readable", strings.Repeat("x", pepperBytes), 0o604, "(mode 604): chmod o-rwx"},
		{"of a group", strings.Repeat("x", pepperBytes), 0o660, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, pepperName)
		if err := os.WriteFile(path, []byte(c.content), c.mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, c.mode); err != nil {
			t.Fatal(err)
		}
		_, err := loadPepper(dir, true)
		if (err == nil) != (c.want == "") || err != nil && !(strings.Contains(err.Error(), c.want) && strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

// Without the pepper no key of the database works again: a new one must not be
// made over that.
func TestLostPepper(t *testing.T) {
	dir, s := t.TempDir(), &memory{}
	_, k := mustCreate(t, s, dir, NewKey{})
	if err := os.Remove(filepath.Join(dir, pepperName)); err != nil {
		t.Fatal(err)
	}
	keys := NewKeys(s, dir)
	_, _, creating := keys.Create(t.Context(), NewKey{})
	_, opening := Open(t.Context(), Options{Store: s, Dir: dir})
	for _, err := range []error{creating, opening} {
		if err == nil || !strings.Contains(err.Error(), "pepper is missing") {
			t.Error(err)
		}
	}
	if err := keys.Revoke(t.Context(), k.ID); err != nil {
		t.Fatal(err)
	}
	if text, _ := mustCreate(t, s, dir, NewKey{}); reasonOf(t, mustOpen(t, Options{Store: s, Dir: dir}), bearer(text)) != "" {
		t.Error("the new key is not accepted")
	}
}
