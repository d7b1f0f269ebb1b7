package sandbox

import (
	"errors"
	"strings"
	"testing"
)

func TestSpecValidate(t *testing.T) {
	some := DiskLimit{Bytes: 1, Inodes: 1}
	for name, c := range map[string]struct {
		spec Spec
		want string
	}{
		"the least":              {Spec{Disk: some, Network: NetworkPolicy{Mode: NetworkNone}}, ""},
		"every field":            {Spec{Level: LevelRestricted, Disk: some, BuildDisk: some, Network: NetworkPolicy{Mode: NetworkFull}}, ""},
		"no disk":                {Spec{Network: NetworkPolicy{Mode: NetworkNone}}, "needs a disk limit"},
		"no files":               {Spec{Disk: DiskLimit{Bytes: 1}}, "needs a disk limit"},
		"a build disk, no files": {Spec{Disk: some, BuildDisk: DiskLimit{Bytes: 1}}, "needs a disk limit"},
		"a negative build disk":  {Spec{Disk: some, BuildDisk: DiskLimit{Bytes: -1, Inodes: 1}}, "needs a disk limit"},
		"a level":                {Spec{Level: "maximum", Disk: some}, `unknown isolation level "maximum": auto, full, restricted or none`},
	} {
		err := c.spec.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	var network *NetworkError
	if err := (Spec{Disk: some, Network: NetworkPolicy{Mode: "all"}}).Validate(); !errors.As(err, &network) || network.Field != "mode" {
		t.Errorf("%v", err)
	}
}

// TestSpecMounts: no mount comes between a container and what it is made of.
func TestSpecMounts(t *testing.T) {
	some := DiskLimit{Bytes: 1, Inodes: 1}
	for name, c := range map[string]struct {
		mounts []Mount
		want   string
	}{
		"toolchains":                {[]Mount{{Source: "/opt/go"}, {Source: "/opt/go/pkg"}, {Source: "/tmp/fake/bin"}, {Target: "/opt/go/src"}, {Target: "/tmp/fake/lib"}}, ""},
		"caches":                    {[]Mount{{Source: "/a", Target: "/cache/go", Overlay: true}, {Kept: "k", Target: "/cache/gone"}, {Target: "/cache/javac", Overlay: true}}, ""},
		"a name of a runtime's":     {[]Mount{{Source: "/a", Target: "/.build", Overlay: true}}, "no place"},
		"the root":                  {[]Mount{{Source: "/a", Target: "/"}}, "no place"},
		"relative":                  {[]Mount{{Source: "/a", Target: "mnt"}}, "no place"},
		"not clean":                 {[]Mount{{Source: "/a", Target: "/mnt/../etc"}}, "no place"},
		"no place at all":           {[]Mount{{Optional: true}}, "no place"},
		"in the workspace":          {[]Mount{{Source: "/a", Target: "/workspace/d", Overlay: true}}, "a /workspace of its own"},
		"the workspace, kept":       {[]Mount{{Kept: "k", Target: "/workspace"}}, "a /workspace of its own"},
		"devices":                   {[]Mount{{Source: "/a", Target: "/dev/shm"}}, "a /dev of its own"},
		"below what is written":     {[]Mount{{Target: "/mnt", Overlay: true}, {Source: "/a", Target: "/mnt/b"}}, `"/mnt" is one that programs write`},
		"below a layer, it is last": {[]Mount{{Source: "/a", Target: "/mnt/b"}, {Source: "/b", Target: "/mnt", Overlay: true}}, `"/mnt" is one that programs write`},
		"twice the same layer":      {[]Mount{{Source: "/a", Target: "/mnt", Overlay: true}, {Source: "/b", Target: "/mnt", Overlay: true}}, "programs write"},
	} {
		err := Spec{Disk: some, BuildDisk: some, Network: NetworkPolicy{Mode: NetworkNone}, Mounts: c.mounts}.Validate()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestOverlayNeedsABuildDisk(t *testing.T) {
	some := DiskLimit{Bytes: 1, Inodes: 1}
	err := Spec{Disk: some, Network: NetworkPolicy{Mode: NetworkNone}, Mounts: []Mount{{Target: "/mnt", Overlay: true}}}.Validate()
	if err == nil || !strings.Contains(err.Error(), "no build disk") {
		t.Errorf("%v", err)
	}
}

func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{{"/a", "/a", true}, {"/a/b", "/a", true}, {"/a", "/ab", false}, {"/", "/a", true}, {"/a/b", "/a/c", false}} {
		if Overlap(c.a, c.b) != c.want || Overlap(c.b, c.a) != c.want {
			t.Errorf("%s and %s: want %v", c.a, c.b, c.want)
		}
	}
}
