//go:build !linux

package lockfile

import "os"

// SyncDisk leaves it to the system, which has no such call.
func SyncDisk(*os.Root) error { return nil }
