package local

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A container of one writes its /etc, and those of many have one in common: none can tell, but for
// what it is mounted from, nor can who comes after somebody has cleaned up.
func TestEtcInCommon(t *testing.T) {
	one, rt := opened(t), openedWith(t, Options{Many: true})
	etc := func(rt *Runtime, spec sandbox.Spec) string {
		spec.Disk = sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 100}
		c, err := rt.Create(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Delete(t.Context())
		var out bytes.Buffer
		p := running(64<<20, "/bin/sh", "-c", `cd /etc && find . -printf '%p %M %U:%G %l\n' | sort && cat passwd group hosts hostname nsswitch.conf resolv.conf && cksum ld.so.cache
			for name in . passwd alternatives; do { : >>/etc/$name/new; } 2>/dev/null && echo writes; done; chmod 777 passwd 2>/dev/null && echo changes`)
		p.Stdout, p.Stderr = &out, &out
		r, err := c.Start(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Wait(); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	first := etc(one, sandbox.Spec{})
	if !strings.Contains(first, "./passwd -rw-r--r-- ") || strings.Contains(first, "writes") || strings.Contains(first, "changes") {
		t.Errorf("the first has\n%s", first)
	}
	same := func(which, got string) {
		t.Helper()
		want, have := strings.Split(first, "\n"), strings.Split(got, "\n")
		missing := slices.DeleteFunc(slices.Clone(want), func(line string) bool { return slices.Contains(have, line) })
		more := slices.DeleteFunc(have, func(line string) bool { return slices.Contains(want, line) })
		if len(missing)+len(more) > 0 {
			t.Errorf("%s lacks of the first's /etc %q, and has %q", which, missing, more)
		}
	}
	for range 2 {
		same("one of many", etc(rt, sandbox.Spec{}))
	}
	dirs, err := filepath.Glob(filepath.Join(rt.instance.Dir, "etc-*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("two containers have made %q (%v)", dirs, err)
	}
	if err := os.RemoveAll(rt.instance.Dir); err != nil {
		t.Fatal(err)
	}
	same("one after a cleaner", etc(rt, sandbox.Spec{}))
	if rt.etc.made != 2 {
		t.Errorf("it was made %d times", rt.etc.made)
	}
	// What is mounted below is made for it alone.
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("own"), 0o644); err != nil {
		t.Fatal(err)
	}
	withMount := etc(rt, sandbox.Spec{Mounts: []sandbox.Mount{{Source: dir, Target: "/etc/own"}}})
	if !strings.Contains(withMount, "./own/file ") {
		t.Errorf("with a mount below it has\n%s", withMount)
	}
}
