//go:build !linux

package image

import (
	"errors"
	"strings"
	"testing"
)

// TestNeedsLinux: where images cannot be unpacked, the store says so at once.
func TestNeedsLinux(t *testing.T) {
	_, err := Open(t.TempDir(), Options{})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "Linux") {
		t.Errorf("opened: %v", err)
	}
}
