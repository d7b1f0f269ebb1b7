//go:build !linux

package landlock

import (
	"errors"
	"fmt"
	"runtime"
)

// ABI fails: only Linux has Landlock.
func ABI() (int, error) {
	return 0, fmt.Errorf("landlock: %w: %s has none, only Linux does", errors.ErrUnsupported, runtime.GOOS)
}
