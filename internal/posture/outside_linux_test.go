package posture

import (
	"os"
	"strings"
	"testing"
)

// What lists this process's descriptors has the list's own open, which is gone when it is asked for.
func TestClosedMeanwhile(t *testing.T) {
	if is := descriptors(os.Getpid()); is == "" || strings.Contains(is, "ENOENT") {
		t.Errorf("this process has %q open", is)
	}
}
