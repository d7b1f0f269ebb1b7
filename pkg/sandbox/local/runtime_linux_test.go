package local

import (
	"errors"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// A host that lets us make no container at all says so, and the runtime lives on.
func TestNoLevelWorks(t *testing.T) {
	r, err := New(Options{RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.host.landlockABI = 0
	spec := sandbox.Spec{Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}}
	// No overlay goes over /proc: the kernel refuses isolation full.
	spec.Mounts = []sandbox.Mount{{Source: "/proc", Target: "/mnt"}}
	var unsupported *sandbox.UnsupportedError
	if _, err := r.Create(t.Context(), spec); !errors.As(err, &unsupported) || unsupported.What != "isolation restricted" {
		t.Errorf("error %v", err)
	}
	spec.Level, spec.Mounts = sandbox.LevelNone, nil
	c, err := r.Create(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Delete(t.Context()); err != nil {
		t.Error(err)
	}
}
