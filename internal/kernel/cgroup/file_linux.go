package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// dir is an open directory of a cgroup tree; the files and groups below are
// named relative to it. The calls are bare system calls, one for each step:
// this is the hot path of every run.
type dir struct {
	*os.File
}

// openDir opens a directory as a place for other calls; it needs no right to
// read it.
func openDir(path string) (dir, error) {
	f, err := os.OpenFile(path, unix.O_PATH|unix.O_DIRECTORY, 0)
	return dir{f}, err
}

func (d dir) fd() int { return int(d.Fd()) }

// open opens a file below the directory.
func (d dir) open(name string, flags int) (*os.File, error) {
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd(), name, flags|unix.O_CLOEXEC, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: d.path(name), Err: err}
	}
	return os.NewFile(uintptr(fd), d.path(name)), nil
}

// write writes a value to a file of the kernel, in one call.
func (d dir) write(name, value string) error {
	if fault.Off("cgroup", path.Base(name)) {
		return nil
	}
	fd, err := retry(func() (int, error) { return unix.Openat(d.fd(), name, unix.O_WRONLY|unix.O_CLOEXEC, 0) })
	if err == nil {
		_, err = retry(func() (int, error) { return unix.Write(fd, []byte(value)) })
		unix.Close(fd)
	}
	if err != nil {
		return fmt.Errorf("cannot write %q to %s: %w", value, d.path(name), err)
	}
	return nil
}

// read reads a file of the kernel into buf, in one call. What does not fit is
// cut behind the last whole line.
func (d dir) read(name string, buf []byte) ([]byte, error) {
	fd, err := d.openToRead(name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	return d.readOpen(fd, name, buf)
}

func (d dir) openToRead(name string) (fd int, err error) {
	fd, err = retry(func() (int, error) { return unix.Openat(d.fd(), name, unix.O_RDONLY|unix.O_CLOEXEC, 0) })
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: d.path(name), Err: err}
	}
	return fd, nil
}

// readOpen is read of a file that is open; it can be read again.
func (d dir) readOpen(fd int, name string, buf []byte) ([]byte, error) {
	n, err := retry(func() (int, error) { return unix.Pread(fd, buf, 0) })
	if err != nil {
		return nil, &os.PathError{Op: "read", Path: d.path(name), Err: err}
	}
	if n == len(buf) {
		n = bytes.LastIndexByte(buf, '\n') + 1
	}
	return buf[:n], nil
}

func (d dir) mkdir(name string) error {
	_, err := retry(func() (int, error) { return 0, unix.Mkdirat(d.fd(), name, 0o755) })
	if err != nil {
		return &os.PathError{Op: "mkdir", Path: d.path(name), Err: err}
	}
	return nil
}

// chown gives a file of the kernel to a user.
func (d dir) chown(name string, owner int) error {
	_, err := retry(func() (int, error) { return 0, unix.Fchownat(d.fd(), name, owner, -1, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return &os.PathError{Op: "chown", Path: d.path(name), Err: err}
	}
	return nil
}

// rmdir removes a group; one that is already gone is no error.
func (d dir) rmdir(name string) error {
	_, err := retry(func() (int, error) { return 0, unix.Unlinkat(d.fd(), name, unix.AT_REMOVEDIR) })
	if err != nil && !errors.Is(err, unix.ENOENT) {
		return &os.PathError{Op: "rmdir", Path: d.path(name), Err: err}
	}
	return nil
}

func (d dir) exists(name string) bool { return d.access(name) == nil }

// access tells why a file is not there, or cannot be looked for.
func (d dir) access(name string) error {
	_, err := retry(func() (int, error) { return 0, unix.Faccessat(d.fd(), name, unix.F_OK, 0) })
	if err != nil {
		return &os.PathError{Op: "access", Path: d.path(name), Err: err}
	}
	return nil
}

// subdirs lists the groups in a group.
func (d dir) subdirs(name string) ([]string, error) {
	f, err := d.open(name, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	var names []string
	for _, e := range entries {
		if e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// path is for messages.
func (d dir) path(name string) string { return d.Name() + "/" + name }

// retry repeats a call that a signal interrupted: the Go runtime sends itself
// signals, and writes to memory files end with EINTR when one is pending.
func retry(call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err != unix.EINTR {
			return n, err
		}
	}
}
