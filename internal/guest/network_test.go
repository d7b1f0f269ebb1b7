package guest

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// compiled is the filter that a process should have.
func compiled(t *testing.T, opts seccomp.Options) []byte {
	t.Helper()
	arch, err := seccomp.ArchOf("arm64")
	if err != nil {
		t.Fatal(err)
	}
	program, err := seccomp.Compile(seccomp.Default(opts), arch)
	if err != nil {
		t.Fatal(err)
	}
	return seccomp.Marshal(program)
}

// TestNetworkOfProcess: a process has the network of its container, or none. It is
// the filter that takes it away, whatever namespace there is.
func TestNetworkOfProcess(t *testing.T) {
	const none, localhost, allowlist, full = sandbox.NetworkNone, sandbox.NetworkLocalhost, sandbox.NetworkAllowlist, sandbox.NetworkFull
	own := func(mode sandbox.NetworkMode, allow ...string) *sandbox.NetworkPolicy {
		return &sandbox.NetworkPolicy{Mode: mode, Allow: allow}
	}
	for _, test := range []struct {
		container sandbox.NetworkMode
		process   *sandbox.NetworkPolicy
		inet      bool
		refused   bool
	}{
		{container: ""},
		{container: none},
		{container: localhost, inet: true},
		{container: full, inet: true},
		{container: localhost, process: own(none)},
		{container: localhost, process: own("")},
		{container: localhost, process: own(localhost), inet: true},
		{container: allowlist, process: own(none)},
		{container: none, process: own(none)},
		{container: none, process: own(localhost), refused: true},
		{container: none, process: own(full), refused: true},
		{container: "", process: own("", "example.org"), refused: true},
		{container: localhost, process: own(allowlist), refused: true},
		{container: localhost, process: own(full), refused: true},
		{container: localhost, process: own(none, "example.org"), refused: true},
		{container: allowlist, process: own(full), refused: true},
		{container: full, process: own("everything"), refused: true},
	} {
		for _, filter := range []seccomp.Options{{}, {NoUDP: true, AllowAffinity: true}} {
			c := &Container{opts: Options{Arch: "arm64", Network: sandbox.NetworkPolicy{Mode: test.container}, Filter: filter}, filters: map[seccomp.Options][]byte{}}
			got, err := c.filter(sandbox.Process{Network: test.process})
			if test.refused {
				if err == nil {
					t.Errorf("%q in %q was allowed", test.process.Mode, test.container)
				}
				continue
			}
			want := filter
			want.Inet, want.NoUDP, want.OneUser = test.inet, filter.NoUDP && test.inet, true
			if err != nil || !bytes.Equal(got, compiled(t, want)) {
				t.Errorf("%+v in %q: another filter than that of %+v, %v", test.process, test.container, want, err)
			}
		}
	}
	// Where the container's network leads out, who leads it says what is too much.
	leads := &Container{opts: Options{Arch: "arm64", Network: sandbox.NetworkPolicy{Mode: allowlist}, Connect: leadNowhere}, filters: map[seccomp.Options][]byte{}}
	for mode, inet := range map[sandbox.NetworkMode]bool{none: false, localhost: true, allowlist: true, full: true} {
		got, err := leads.filter(sandbox.Process{Network: own(mode)})
		if err != nil || !bytes.Equal(got, compiled(t, seccomp.Options{Inet: inet, OneUser: true})) {
			t.Errorf("%s in a network that leads out: another filter, %v", mode, err)
		}
	}
	if _, err := leads.filter(sandbox.Process{Network: own(none, "example.org")}); err == nil {
		t.Error("a policy that cannot be meant was taken")
	}
	if slices.Equal(compiled(t, seccomp.Options{}), compiled(t, seccomp.Options{Inet: true})) {
		t.Error("with a network there is no other filter")
	}
	c := &Container{opts: Options{Arch: "arm64"}, filters: map[seccomp.Options][]byte{}}
	var network *sandbox.NetworkError
	if _, err := c.filter(sandbox.Process{Network: own("everything")}); !errors.As(err, &network) {
		t.Errorf("a mode that there is not: %v", err)
	}
}

// TestCompilersLeaveNothingInMemory: what they leave in the IPC namespace would be there for the
// program. It may have its own.
func TestCompilersLeaveNothingInMemory(t *testing.T) {
	build := []string{sandbox.BuildDir}
	for _, test := range []struct {
		trees, readOnly []string
		refused         bool
	}{{build, nil, true}, {build, build, false}, {nil, nil, false}} {
		c := &Container{opts: Options{Arch: "arm64", Trees: test.trees}, filters: map[seccomp.Options][]byte{}}
		got, err := c.filter(sandbox.Process{ReadOnly: test.readOnly})
		if err != nil || !bytes.Equal(got, compiled(t, seccomp.Options{OneUser: true, NoIPC: test.refused})) {
			t.Errorf("directories %v, of which %v are read-only: another filter, %v", test.trees, test.readOnly, err)
		}
	}
}

func leadNowhere(context.Context, *sandbox.NetworkPolicy) (Connection, error) { return nil, nil }
