package kept

import (
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/instance"
)

// openFlags keep an open from waiting for who writes to a FIFO.
const openFlags = unix.O_NONBLOCK | unix.O_NOFOLLOW

// removeTree removes what a program has made.
func removeTree(dir string) error { return instance.RemoveTree(dir) }
