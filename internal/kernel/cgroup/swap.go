package cgroup

import (
	"io/fs"
	"strings"
)

// MendSwap has a limit of memory hold swap, too.
const MendSwap = "boot with swapaccount=1; or swapoff -a"

// HasSwap tells whether memory may go anywhere: below its head /proc/swaps has a line for
// each place (proc_swaps(5)).
func HasSwap(root fs.FS) bool {
	text, err := fs.ReadFile(root, "proc/swaps")
	_, places, _ := strings.Cut(string(text), "\n")
	return err == nil && strings.TrimSpace(places) != ""
}
