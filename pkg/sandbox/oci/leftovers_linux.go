package oci

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killBundle kills the processes of an OCI runtime that has a bundle in its command
// line: gVisor's kernel is a process that outlives the one that has started it, and does
// not answer its own runtime while it hangs.
func killBundle(dir string) error {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || !namesBundle(pid, dir) {
			continue
		}
		if err := killNamed(pid, dir); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, os.NewSyscallError("kill", err))
		}
	}
	return errors.Join(errs...)
}

// killNamed kills a process, and never another one that has got its number.
func killNamed(pid int, dir string) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if !namesBundle(pid, dir) {
		return nil
	}
	return unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}

// namesBundle tells whether another process was started with a bundle: as an argument,
// or behind the = of a flag. A program in a container can only claim to be one, and dies
// for it, which its container is about to.
func namesBundle(pid int, dir string) bool {
	line, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	if err != nil || pid == os.Getpid() {
		return false
	}
	for arg := range strings.SplitSeq(string(line), "\x00") {
		if _, value, _ := strings.Cut(arg, "="); arg == dir || value == dir {
			return true
		}
	}
	return false
}
