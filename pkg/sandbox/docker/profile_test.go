package docker

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/moby/moby/api/types/system"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// filterFor is what a container with a network is given.
func filterFor(t testing.TB, r *Runtime, mode sandbox.NetworkMode) string {
	t.Helper()
	option, done, err := r.filterOption(sandbox.NetworkPolicy{Mode: mode})
	if err != nil {
		t.Fatal(err)
	}
	done()
	text, ok := strings.CutPrefix(option, "seccomp=")
	if !ok {
		t.Fatalf("the engine is given %q", option)
	}
	return text
}

// TestFilterOfNetworks: what a container is given is the filter of its own network, as
// this engine takes it, and the same each time.
func TestFilterOfNetworks(t *testing.T) {
	for version, named := range map[string]bool{"29.1.0": false, "20.10.24": true} {
		r := engineWith(func(i *system.Info) { i.ServerVersion = version })
		for _, mode := range []sandbox.NetworkMode{"", sandbox.NetworkNone, sandbox.NetworkLocalhost, sandbox.NetworkAllowlist, sandbox.NetworkFull} {
			export := guest.Profile
			if named {
				export = guest.NamedProfile
			}
			made, err := export(r.info.filterOptions(), sandbox.NetworkPolicy{Mode: mode}, runtime.GOARCH)
			if err != nil {
				t.Fatal(err)
			}
			want, err := json.Marshal(made)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if filterFor(t, r, mode) != string(want) {
					t.Errorf("Docker %s, network %q: not the filter of this network", version, mode)
				}
			}
		}
	}
}

func BenchmarkFilter(b *testing.B) {
	r := engineWith(func(*system.Info) {})
	for b.Loop() {
		filterFor(b, r, sandbox.NetworkNone)
	}
}
