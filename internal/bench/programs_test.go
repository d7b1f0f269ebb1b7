package bench_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/bench"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// What a machine has its programs do besides is no part of what the bare command takes; what is
// kept between two calls of a compiler is found where it was.
func TestBareHasNoSettings(t *testing.T) {
	tool := filepath.Join(t.TempDir(), "node")
	script := "#!/bin/sh\nenv >&2\n[ -z \"$NODE_OPTIONS$NODE_EXTRA_CA_CERTS$PYTHONPATH\" ] && [ \"$GOCACHE\" = /of/mine ] && [ \"$1\" = f.js ] && [ -n \"$PATH\" ] && echo hello 1\n"
	if err := os.WriteFile(tool, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"NODE_OPTIONS": "--no-warnings", "NODE_EXTRA_CA_CERTS": "/etc/ssl/certs/ca-certificates.crt", "PYTHONPATH": "/opt", "GOCACHE": "/of/mine"} {
		t.Setenv(name, value)
	}
	for _, p := range bench.Programs() {
		if p.Name == "javascript hello" {
			if err := p.Bare(language.Toolchain{Program: tool}, t.TempDir()).Do(t.Context(), 1); err != nil {
				t.Error(err)
			}
			return
		}
	}
	t.Error("nobody measures Node")
}
