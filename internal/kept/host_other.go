//go:build !linux

package kept

import "os"

// openFlags: no program of a container writes here on other systems.
const openFlags = 0

func removeTree(dir string) error { return os.RemoveAll(dir) }

func syncDisk(*os.Root) error { return nil }
