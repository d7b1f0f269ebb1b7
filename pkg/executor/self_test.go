//go:build unix

package executor

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// toolsDir is a data directory with a copy of another version and half a copy.
func toolsDir(t *testing.T) (dataDir, tools string) {
	t.Helper()
	dataDir = t.TempDir()
	tools = filepath.Join(dataDir, "tools")
	for _, name := range []string{"1-1", "tmp-2"} {
		if err := errors.Join(
			os.MkdirAll(filepath.Join(tools, name), 0o755),
			os.WriteFile(filepath.Join(tools, name, path.Base(language.SelfPath)), nil, 0o755),
		); err != nil {
			t.Fatal(err)
		}
	}
	return dataDir, tools
}

// A run by a new version removes the copies of the old ones, but not what
// another run still uses; gc does the same.
func TestOldCopiesAreRemoved(t *testing.T) {
	dataDir, tools := toolsDir(t)
	unlock, err := lockDir(filepath.Join(tools, "1-1"), false)
	if err != nil {
		t.Fatal(err)
	}
	mount, release, err := goRun(&Executor{cfg: Config{DataDir: dataDir}}).selfMount(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	own := filepath.Base(mount.Source)
	if left := leftIn(t, tools); !slices.Equal(left, []string{"1-1", own}) {
		t.Errorf("left %q, want what is in use and %s", left, own)
	}
	if removed, err := Reclaim(t.Context(), dataDir); err != nil || len(removed) != 0 {
		t.Errorf("removed %q, %v: all are in use", removed, err)
	}
	unlock()
	if removed, err := Reclaim(t.Context(), dataDir); err != nil || !slices.Equal(removed, []string{filepath.Join(tools, "1-1")}) {
		t.Errorf("removed %q, %v", removed, err)
	}
	release()
	if removed, err := Reclaim(t.Context(), dataDir); err != nil || len(removed) != 0 {
		t.Errorf("removed %q, %v: our own is wanted again", removed, err)
	}
}

func TestReclaimOfNothing(t *testing.T) {
	dataDir := filepath.Join(t.TempDir(), "none")
	if removed, err := Reclaim(t.Context(), dataDir); err != nil || len(removed) != 0 || exists(dataDir) {
		t.Errorf("removed %q, %v", removed, err)
	}
}

// A copy is whole and stays while it is held, while another version removes what
// it can.
func TestCopiesTogether(t *testing.T) {
	e := &Executor{cfg: Config{DataDir: t.TempDir()}}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	other := copies{dir: filepath.Join(e.cfg.DataDir, "tools"), name: "another version"}
	quit := make(chan struct{})
	var users, remover sync.WaitGroup
	remover.Go(func() { removeUntil(t, other, quit) })
	for range 4 {
		users.Go(func() {
			for range 5 {
				mount, release, err := goRun(e).selfMount(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := os.ReadFile(filepath.Join(mount.Source, path.Base(language.SelfPath))); err != nil || !bytes.Equal(got, want) {
					t.Errorf("the copy has %d bytes of %d, %v", len(got), len(want), err)
				}
				release()
			}
		})
	}
	users.Wait()
	close(quit)
	remover.Wait()
}

func removeUntil(t *testing.T, c copies, quit <-chan struct{}) {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		t.Error(err)
	}
	for {
		unlock, err := lockFile(t.Context(), c.dir+".lock")
		if err == nil {
			_, err = c.removeOthers()
			unlock()
		}
		if err != nil {
			t.Error(err)
		}
		select {
		case <-quit:
			return
		default:
		}
	}
}

// A run holds its copy until its container is gone, and no longer.
func TestRunHoldsItsCopy(t *testing.T) {
	var held []bool
	rt := &fakeRuntime{}
	rt.program = func(sandbox.Process, *fakeRunning) sandbox.Exit {
		held = append(held, !removable(rt.containers[0].spec.Mounts[0].Source))
		return sandbox.Exit{}
	}
	r := &run{e: New(rt, Config{DataDir: t.TempDir()}), lang: fakeLanguage{}, plan: language.Plan{
		Compile: &language.Step{Args: []string{language.SelfPath}},
		Run:     func(sandbox.FileTree) (language.Step, error) { return language.Step{Args: []string{"x"}}, nil },
	}}
	if err := r.execute(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(held, []bool{true, true}) {
		t.Errorf("held while compiling and running: %v", held)
	}
	if !removable(rt.containers[0].spec.Mounts[0].Source) {
		t.Error("held after the run")
	}
}

func removable(dir string) bool {
	unlock, err := lockDir(dir, true)
	if err == nil {
		unlock()
	}
	return err == nil
}

// A lock of what was removed between opening and locking holds nothing.
func TestStillNamed(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := stillNamed(f, dir); err != nil {
		t.Error(err)
	}
	for what, change := range map[string]func() error{
		"removed":  func() error { return os.Remove(dir) },
		"replaced": func() error { return os.MkdirAll(dir, 0o755) },
	} {
		if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o755), change()); err != nil {
			t.Fatal(err)
		}
		if err := stillNamed(f, dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// What was removed half is made again.
func TestHalfACopy(t *testing.T) {
	e := &Executor{cfg: Config{DataDir: t.TempDir()}}
	for range 2 {
		mount, release, err := goRun(e).selfMount(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
		if err := os.Remove(filepath.Join(mount.Source, path.Base(language.SelfPath))); err != nil {
			t.Error(err)
		}
	}
}
