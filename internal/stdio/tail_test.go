package stdio_test

import (
	"io"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/stdio"
)

func TestTail(t *testing.T) {
	var tail stdio.Tail
	if tail.String() != "" || tail.LastLine() != "" {
		t.Errorf("nothing was written: %q, %q", tail.String(), tail.LastLine())
	}
	for range 1000 {
		_, _ = io.WriteString(&tail, "some line\n")
	}
	_, _ = io.WriteString(&tail, "why: \t\n  it failed ")
	_, _ = io.WriteString(&tail, "so \n\n")
	if got := tail.LastLine(); got != "it failed so" {
		t.Errorf("last line %q", got)
	}
	got := tail.String()
	if !strings.HasSuffix(got, "some line\nwhy: \t\n  it failed so") || len(got) < 4000 || len(got) > 4<<10 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
