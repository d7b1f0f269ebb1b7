//go:build !linux

package cli

import (
	"os"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// The terminal of a program is made by the local runtime, which needs Linux:
// elsewhere no program ever gets as far as one.

func terminalSize(*os.File) sandbox.TTY { return sandbox.TTY{Rows: 24, Cols: 80} }

func makeRaw(*os.File) (restore func(), err error) { return func() {}, nil }

func watchResize(*os.File) (sizes <-chan sandbox.TTY, stop func()) { return nil, func() {} }
