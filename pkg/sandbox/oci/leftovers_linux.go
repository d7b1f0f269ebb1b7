package oci

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// killBundle kills the processes of an OCI runtime that has a bundle in its command
// line: gVisor's kernel is a process that outlives the one that has started it, and does
// not answer its own runtime while it hangs. What runs in the container does not count:
// its command line is its own affair, and it ends with what holds it.
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

// namesBundle tells whether a process outside of all containers was started with a
// bundle: as an argument, or behind the = of a flag.
func namesBundle(pid int, dir string) bool {
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	line, err := os.ReadFile(filepath.Join(proc, "cmdline"))
	if err != nil {
		return false
	}
	named := false
	for arg := range bytes.SplitSeq(line, []byte{0}) {
		_, value, _ := strings.Cut(string(arg), "=")
		named = named || string(arg) == dir || value == dir
	}
	return named && os.Getpid() != pid
}
