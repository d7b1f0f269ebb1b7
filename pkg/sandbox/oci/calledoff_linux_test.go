package oci_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
)

// Who calls off a container that is being made hears that, and not what it looks like from
// inside.
func TestCalledOff(t *testing.T) {
	program := runtimeOf(t, `[ "$1" = --version ] || while read -r line; do :; done`) // says nothing, and ends with its input
	rt, err := oci.New(oci.Options{Program: program, RuntimeDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := rt.Create(ctx, spec); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if err := rt.Close(); err != nil {
		t.Error(err)
	}
}
