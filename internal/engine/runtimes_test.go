package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/secret"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// named is a runtime that can do nothing but tell its name.
type named struct {
	sandbox.Runtime
	name     string
	probeErr error
	weak     bool
	closed   *[]string
}

func (n named) Name() string { return n.name }
func (n named) Probe(context.Context) (sandbox.Capabilities, error) {
	return n.caps(), n.probeErr
}
func (n named) Close() error { *n.closed = append(*n.closed, n.name); return nil }

func (n named) caps() sandbox.Capabilities {
	if n.weak {
		return sandbox.Capabilities{Levels: []sandbox.Level{sandbox.LevelRestricted}}
	}
	return sandbox.Capabilities{Levels: []sandbox.Level{sandbox.LevelFull}}
}

func TestOpen(t *testing.T) {
	broken := errors.New("it is broken")
	key := config.E2B{Key: secret.New("e2b_x")}
	for _, tc := range []struct {
		name    string
		cfg     config.Config
		open    map[string]error // what cannot be opened
		probe   map[string]error // what cannot be used
		weak    bool             // local is restricted
		want    string           // runtime
		warning string
		err     string
		closed  []string
	}{
		{name: "local", cfg: config.Config{Runtime: "local"}, want: "local"},
		{name: "by name", cfg: config.Config{Runtime: "oci"}, want: "oci"},
		{name: "broken", cfg: config.Config{Runtime: "oci"}, open: map[string]error{"oci": broken}, err: "it is broken"},
		{name: "fallback", cfg: config.Config{Runtime: "oci", Fallback: "local"}, open: map[string]error{"oci": broken}, want: "local", warning: "runtime oci cannot be used, so local runs this: it is broken"},
		{name: "unknown", cfg: config.Config{Runtime: "chroot"}, err: `there is no runtime "chroot": it is one of docker, e2b, local, oci, remote`},

		{name: "auto", cfg: config.Config{Runtime: "auto", OCIRuntime: "crun --debug"}, want: "local"},
		{name: "auto with a kernel of its own", cfg: config.Config{Runtime: "auto", OCIRuntime: "/usr/bin/runsc --platform=kvm"}, want: "oci"},
		{name: "auto with an engine's", cfg: config.Config{Runtime: "auto", OCIRuntime: "runsc", Docker: config.Docker{Runtime: "kata"}}, want: "docker"},
		{name: "auto with a key", cfg: config.Config{Runtime: "auto", OCIRuntime: "runsc", E2B: key}, want: "e2b"},
		{name: "auto with a key that is wrong", cfg: config.Config{Runtime: "auto", E2B: key}, probe: map[string]error{"e2b": broken}, want: "local",
			warning: "runtime e2b cannot be used, so local runs this: it is broken", closed: []string{"e2b"}},
		{name: "auto with one that does not work", cfg: config.Config{Runtime: "auto", OCIRuntime: "runsc"}, probe: map[string]error{"oci": broken}, want: "local",
			warning: "runtime oci cannot be used, so local runs this: it is broken", closed: []string{"oci"}},
		{name: "auto with one that is not there", cfg: config.Config{Runtime: "auto", OCIRuntime: "kata-runtime"}, open: map[string]error{"oci": broken}, want: "local",
			warning: "runtime oci cannot be used, so local runs this: it is broken"},
		{name: "auto where local is weak", cfg: config.Config{Runtime: "auto"}, weak: true, want: "docker", closed: []string{"local"},
			warning: "runtime local cannot be used, so docker runs this: isolation full does not work here; sandbox-run doctor shows why"},
		{name: "auto where local is weak and alone", cfg: config.Config{Runtime: "auto"}, weak: true, open: map[string]error{"docker": broken}, want: "local", closed: []string{"local"},
			warning: "runtime local is weak: isolation full does not work here; sandbox-run doctor shows why\nruntime docker cannot be used, so local runs this: it is broken"},
		{name: "auto without anything", cfg: config.Config{Runtime: "auto"}, open: map[string]error{"docker": broken, "local": broken},
			err: "runtime local cannot be used: it is broken; runtime docker cannot be used: it is broken"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var closed []string
			f := sandbox.Factory{}
			for _, name := range config.Runtimes() {
				f[name] = func() (sandbox.Runtime, error) {
					return named{name: name, probeErr: tc.probe[name], weak: tc.weak, closed: &closed}, tc.open[name]
				}
			}
			rt, warnings, err := Open(t.Context(), tc.cfg, f)
			if got := errorText(err); got != tc.err {
				t.Fatalf("error %q, want %q", got, tc.err)
			}
			if tc.err == "" && rt.Name() != tc.want {
				t.Errorf("runtime %s, want %s", rt.Name(), tc.want)
			}
			if got := strings.Join(warnings, "\n"); got != tc.warning {
				t.Errorf("warnings %q, want %q", got, tc.warning)
			}
			if !slices.Equal(closed, tc.closed) {
				t.Errorf("closed %q, want %q", closed, tc.closed)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
