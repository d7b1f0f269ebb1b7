package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// named is a runtime that can do nothing but tell its name.
type named struct {
	sandbox.Runtime
	name     string
	probeErr error
	closed   *[]string
}

func (n named) Name() string { return n.name }
func (n named) Probe(context.Context) (sandbox.Capabilities, error) {
	return sandbox.Capabilities{}, n.probeErr
}
func (n named) Close() error { *n.closed = append(*n.closed, n.name); return nil }

func TestOpen(t *testing.T) {
	broken := errors.New("it is broken")
	for _, tc := range []struct {
		name, runtime, fallback, oci string
		openErr, probeErr            error
		want                         string // runtime
		warning, err                 string
		closed                       []string
	}{
		{name: "local", runtime: "local", want: "local"},
		{name: "by name", runtime: "oci", want: "oci"},
		{name: "broken", runtime: "oci", openErr: broken, err: "it is broken"},
		{name: "fallback", runtime: "oci", openErr: broken, fallback: "local", want: "local", warning: "runtime oci cannot be used, so local runs this: it is broken"},
		{name: "unknown", runtime: "chroot", err: `there is no runtime "chroot": it is one of local, oci`},
		{name: "auto without a kernel of its own", runtime: "auto", oci: "crun --debug", want: "local"},
		{name: "auto with one", runtime: "auto", oci: "/usr/bin/runsc --platform=kvm", want: "oci"},
		{name: "auto with one that does not work", runtime: "auto", oci: "runsc", probeErr: broken, want: "local", warning: "runtime oci cannot be used, so local runs this: it is broken", closed: []string{"oci"}},
		{name: "auto with one that is not there", runtime: "auto", oci: "kata-runtime", openErr: broken, want: "local", warning: "runtime oci cannot be used, so local runs this: it is broken"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var closed []string
			f := sandbox.Factory{
				"local": func() (sandbox.Runtime, error) { return named{name: "local", closed: &closed}, nil },
				"oci": func() (sandbox.Runtime, error) {
					return named{name: "oci", probeErr: tc.probeErr, closed: &closed}, tc.openErr
				},
			}
			cfg := config.Config{Runtime: tc.runtime, Fallback: tc.fallback, OCIRuntime: tc.oci}
			rt, warnings, err := Open(t.Context(), cfg, f)
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
