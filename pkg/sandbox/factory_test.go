package sandbox_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestFactory(t *testing.T) {
	mine := errors.New("no kernel")
	f := sandbox.Factory{
		"local":  func() (sandbox.Runtime, error) { return nil, mine },
		"docker": func() (sandbox.Runtime, error) { return nil, nil },
	}
	if _, err := f.Open("local"); !errors.Is(err, mine) {
		t.Errorf("error %v, want the runtime's own", err)
	}
	for _, name := range []string{"", "Local", "podman"} {
		if _, err := f.Open(name); err == nil || !strings.Contains(err.Error(), "docker, local") {
			t.Errorf("%q: error %v, want the valid names", name, err)
		}
	}
}
