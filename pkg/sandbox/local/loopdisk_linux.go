package local

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// loopDisk is a workspace on disk: a file system of its own in a file of the
// disk limit's size, so that the limit holds for bytes and inodes alike without
// any quota of the host's. Only root may mount one, and nobody but us ever wrote
// what is mounted.
type loopDisk struct {
	file   string
	device string
	loop   *os.File // keeps the device until it is mounted
}

// minLoopDisk is the smallest file that mke2fs makes a useful ext4 of.
const minLoopDisk = 2 << 20

func errNoLoopDisk(reason string) error {
	return &sandbox.UnsupportedError{What: "a workspace on disk", Reason: reason}
}

// newLoopDisk makes the file, its file system, and the block device.
func (r *Runtime) newLoopDisk(name string, limit sandbox.DiskLimit) (_ *loopDisk, err error) {
	switch {
	case !r.host.root:
		return nil, errNoLoopDisk("only root may mount it")
	case limit.Bytes < minLoopDisk:
		return nil, errNoLoopDisk(fmt.Sprintf("%d bytes are too few for a file system: at least %d", limit.Bytes, minLoopDisk))
	}
	if err := r.instance.MakeDir(); err != nil {
		return nil, err
	}
	d := &loopDisk{file: filepath.Join(r.instance.Dir, name+".disk")}
	defer func() {
		if err != nil {
			_ = d.remove()
		}
	}()
	if err := makeFileSystem(d.file, limit); err != nil {
		return nil, err
	}
	fault.Point("disk formatted")
	return d, d.attach()
}

// makeFileSystem makes an ext4 without what a short life does not need.
func makeFileSystem(file string, limit sandbox.DiskLimit) error {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("make the workspace's disk: %w", err)
	}
	err = f.Truncate(limit.Bytes)
	f.Close()
	if err != nil {
		return fmt.Errorf("make the workspace's disk: %w", err)
	}
	fault.Point("disk made")
	mke2fs, err := exec.LookPath("mke2fs")
	if err != nil {
		if mke2fs = "/sbin/mke2fs"; unix.Access(mke2fs, unix.X_OK) != nil {
			return errNoLoopDisk("mke2fs is not installed: apt-get install e2fsprogs")
		}
	}
	out, err := exec.Command(mke2fs, "-q", "-F", "-t", "ext4", "-O", "^has_journal,^resize_inode", "-m", "0",
		"-N", strconv.FormatInt(limit.Inodes+ownInodes, 10), "-E", "lazy_itable_init=1", file).CombinedOutput()
	if err != nil {
		return fmt.Errorf("make the workspace's file system: %w: %s", err, out)
	}
	return nil
}

// attach finds a free loop device for the file. The device goes by itself when
// the last mount of it does.
func (d *loopDisk) attach() error {
	file, err := os.OpenFile(d.file, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("attach the workspace's disk: %w", err)
	}
	defer file.Close()
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return errNoLoopDisk(err.Error())
	}
	defer control.Close()
	config := unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}}
	const tries = 100 // others take devices too
	for range tries {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return fmt.Errorf("find a loop device: %w", err)
		}
		d.device = fmt.Sprintf("/dev/loop%d", number)
		if d.loop, err = os.OpenFile(d.device, os.O_RDWR, 0); err != nil {
			return fmt.Errorf("open a loop device: %w", err)
		}
		if err = unix.IoctlLoopConfigure(int(d.loop.Fd()), &config); err == nil {
			fault.Point("disk attached")
			return nil
		}
		d.loop.Close()
		d.loop = nil
		if !errors.Is(err, unix.EBUSY) {
			return fmt.Errorf("attach the workspace's disk: %w", err)
		}
	}
	return fmt.Errorf("no free loop device after %d tries", tries)
}

// remove lets go of the device and removes the file.
func (d *loopDisk) remove() error {
	if d.loop != nil {
		d.loop.Close()
	}
	if err := os.Remove(d.file); err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}
