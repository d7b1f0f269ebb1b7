//go:build unix

package daemon

import "golang.org/x/sys/unix"

// openFiles is the most open files that a program can be given: what we may have
// ourselves, or 65536.
func openFiles() int64 {
	const most = 65536
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Max > most {
		return most
	}
	return int64(limit.Max)
}
