package local

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/sandboxtest"
)

func openWithImages(t *testing.T, images string) sandbox.Runtime {
	t.Helper()
	rt, err := New(Options{RuntimeDir: t.TempDir(), ImageDir: images})
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

func TestImages(t *testing.T) { sandboxtest.RunImages(t, openWithImages) }

func TestImageConformance(t *testing.T) {
	images := sandboxtest.Images(t)
	sandboxtest.Run(t, sandboxtest.Options{Level: sandbox.LevelFull, Image: true, Ask: sandboxtest.HostImage, OwnNamespaces: true, Open: func(t *testing.T) sandbox.Runtime {
		return openWithImages(t, images)
	}})
}

// A host that makes no root of a container's own can have no image, and says why.
func TestImageNeedsFull(t *testing.T) {
	rt := openWithImages(t, sandboxtest.Images(t))
	defer rt.Close()
	spec := sandbox.Spec{Image: sandboxtest.HostImage, Disk: sandbox.DiskLimit{Bytes: 1 << 20, Inodes: 64}}
	spec.Mounts = []sandbox.Mount{{Source: "/proc", Target: "/mnt"}} // over which no overlay goes
	var unsupported *sandbox.UnsupportedError
	if _, err := rt.Create(t.Context(), spec); !errors.As(err, &unsupported) || !strings.Contains(err.Error(), "needs isolation full, which fails") {
		t.Errorf("error %v", err)
	}
}

// The same as an ordinary user, who owns what is in the store.
func TestImagesAsOrdinaryUser(t *testing.T) {
	asNobody(t, "^TestImages$|^TestImageConformance$", "TestImages")
}
