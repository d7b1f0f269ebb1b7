package cgroup

import (
	"errors"

	"golang.org/x/sys/unix"
)

// mend says what to do about an error of Detect.
func (d *detector) mend(version int, err error) string {
	switch {
	case errors.Is(err, errNoClone3):
		return "use Linux 5.7 or later, and a container whose seccomp filter lets clone3 pass, e.g. Docker 20.10.10 or later"
	case errors.Is(err, unix.EROFS):
		return "give the container a writable cgroup file system, e.g. docker run --privileged --cgroupns=private"
	case version == 1 && errors.Is(err, unix.EACCES) && d.inContainer():
		return "run the container as root with a writable cgroup file system, e.g. docker run --privileged --cgroupns=private"
	case version == 1 && errors.Is(err, unix.EACCES):
		return "run it as root, or boot with cgroup v2: systemd.unified_cgroup_hierarchy=1"
	case version == 1:
		return "start it in a container or namespace whose own group is mounted below /sys/fs/cgroup"
	case errors.Is(err, errNotDelegated) && d.euid != 0 && d.ownedBySystemd():
		return `sudo sh -c 'mkdir -p /etc/systemd/system/user@.service.d && printf "[Service]\nDelegate=cpu io memory pids\n" > /etc/systemd/system/user@.service.d/delegate.conf && systemctl daemon-reload', then log in again`
	case errors.Is(err, errNotDelegated):
		return "enable the controller in cgroup.subtree_control of every group above, as root; if the root of the tree lacks it, boot with cgroup_enable=memory"
	case d.euid == 0 && d.ownedBySystemd():
		return "systemd-run --scope -p Delegate=yes sandbox-run …"
	case d.ownedBySystemd() || d.euid != 0:
		return "systemd-run --user --scope -p Delegate=yes sandbox-run …"
	default:
		return "start it as the only process of its container or group, or as root with --cgroupns=host"
	}
}

// inContainer tells whether an engine has left its mark: Docker's or Podman's.
func (d *detector) inContainer() bool {
	for _, mark := range []string{"/.dockerenv", "/run/.containerenv"} {
		if err := unix.Access(d.root+mark, unix.F_OK); err == nil {
			return true
		}
	}
	return false
}

// ownedBySystemd tells whether systemd manages the tree: its slices are there.
func (d *detector) ownedBySystemd() bool {
	dir, err := openDir(d.root + "/run/systemd/system")
	if err == nil {
		dir.Close()
	}
	return err == nil
}
