package oci

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/instance"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
)

// containersOf are the containers that an instance has had, by its bundles and by its
// control groups: either may have gone before the other.
func containersOf(dir, name string) (ids []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		ids = append(ids, e.Name())
	}
	for _, place := range groupPlaces() {
		groups, err := filepath.Glob(filepath.Join(place, groupName(name)+"-*"))
		if err != nil {
			return nil, err
		}
		for _, g := range groups {
			_, id, _ := strings.Cut(filepath.Base(g), groupName(""))
			ids = append(ids, id)
		}
	}
	ids = slices.DeleteFunc(ids, func(id string) bool {
		_, ours := strings.CutPrefix(id, name+"-")
		return !ours
	})
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// groupPlaces are where an OCI runtime makes control groups: the one tree of version 2,
// or those of version 1.
func groupPlaces() (places []string) {
	for _, pattern := range []string{groupRoot + "/cgroup.procs", groupRoot + "/*/cgroup.procs"} {
		files, _ := filepath.Glob(pattern) // which is well-formed
		for _, f := range files {
			places = append(places, filepath.Dir(f))
		}
		if len(places) > 0 {
			break
		}
	}
	return places
}

// holdName tells whoever finds our control groups, and not our file, that we live. Where
// that is not to be had only groups that no process is in yet are at stake.
func holdName(name string) (held []*os.File) {
	for _, place := range groupPlaces() {
		if f, err := cgroup.HoldName(place, name); err == nil {
			held = append(held, f)
		}
	}
	return held
}

// reclaimForgotten removes the containers of dead instances that the runtime directory
// knows nothing of, as long as there are their directories, and else the control groups
// in which there is no process.
func reclaimForgotten(f flavour, dir string) (removed []string, err error) {
	errs := []error{instance.ForgottenDirs(dir, func(path, name string) error {
		if _, err := os.Lstat(filepath.Join(path, initFile)); err != nil {
			return nil // none of this runtime's
		}
		lines, err := reclaimDir(f, path, name)
		removed = append(removed, lines...)
		return err
	})}
	for _, place := range groupPlaces() {
		groups, err := filepath.Glob(filepath.Join(place, groupName("*")))
		errs = append(errs, err)
		for _, g := range groups {
			_, id, _ := strings.Cut(filepath.Base(g), groupName(""))
			name := instance.Forgotten(dir, id)
			if name == "" {
				continue
			}
			held, err := cgroup.NameHeld(place, name)
			if held || err != nil {
				errs = append(errs, err)
				continue
			}
			if err = os.Remove(g); err == nil {
				removed = append(removed, g)
			} else if !errors.Is(err, unix.EBUSY) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
				errs = append(errs, err) // another user's is that user's to remove
			}
		}
	}
	return removed, errors.Join(errs...)
}

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
	if err == unix.EINVAL { // reaped, and its number still in use: Linux before 6.15
		return nil
	}
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
