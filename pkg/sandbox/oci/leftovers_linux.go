package oci

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// bundleVariable names the bundle in the environment of an OCI runtime, for what it
// starts that does not say so in its command line.
const bundleVariable = "OCI_BUNDLE="

// killBundle kills the processes of an OCI runtime that name a bundle: gVisor's kernel is
// a process that outlives the one that has started it, and does not answer its own
// runtime while it hangs.
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
// behind the = of a flag, or in its environment. A program in a container can only claim
// to be one, and dies for it, which its container is about to.
func namesBundle(pid int, dir string) bool {
	if pid == os.Getpid() {
		return false
	}
	proc := filepath.Join("/proc", strconv.Itoa(pid))
	line, _ := os.ReadFile(filepath.Join(proc, "cmdline")) // empty when it is gone
	for arg := range strings.SplitSeq(string(line), "\x00") {
		if _, value, _ := strings.Cut(arg, "="); arg == dir || value == dir {
			return true
		}
	}
	variables, _ := os.ReadFile(filepath.Join(proc, "environ"))
	return slices.Contains(strings.Split(string(variables), "\x00"), bundleVariable+dir)
}
