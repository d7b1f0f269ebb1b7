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
