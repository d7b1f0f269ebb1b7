package seccomp

import "testing"

// TestHostFilesVerdicts: what Landlock does not watch reaches every file of the
// program's user.
func TestHostFilesVerdicts(t *testing.T) {
	const notty, notSupported = actionErrno | Action(ENOTTY), actionErrno | Action(EOPNOTSUPP)
	const einval = actionErrno | Action(EINVAL)
	full, own := Options{}, Options{Restricted: true}
	asked := Options{Restricted: true, Attributes: AttributesSupervised}
	refused := Options{Restricted: true, Attributes: AttributesRefused}
	dated := Options{Restricted: true, Attributes: TimesSupervised}
	old := Options{Restricted: true, TruncationUnwatched: true}
	expect(t, []expectation{
		{full, "openat2", nil, Allow},
		{full, "truncate", nil, Allow},
		{full, "fchmod", []uint64{3, 0o4755}, Allow},
		{full, "fchownat", nil, Allow},
		{full, "fsetxattr", nil, Allow},
		{full, "ioctl", []uint64{3, 0x40086602}, Allow}, // FS_IOC_SETFLAGS

		{own, "openat2", nil, enosys},
		{own, "truncate", nil, Allow},
		{own, "openat", []uint64{0, 0, 0o1000}, Allow},
		{own, "fchmod", []uint64{3, 0o755}, Allow},
		{own, "fchmod", []uint64{3, 0o4755 | high}, eperm},
		{own, "fchmod", []uint64{3, 0o2000}, eperm},
		{own, "fchmodat", []uint64{0, 0, 0o6755}, eperm},
		{own, "fchmodat", []uint64{0, 0o4000, 0o1755}, Allow},
		{own, "fchmodat2", []uint64{0, 0, 0o4000}, eperm},
		{own, "mknodat", []uint64{0, 0, 0o104755}, eperm},
		{own, "mknodat", []uint64{0, 0, 0o100755}, Allow},
		{own, "openat", []uint64{0, 0, 0o101 | high, 0o4755}, eperm},
		{own, "openat", []uint64{0, 0, 0o20200002, 0o2755}, eperm}, // O_TMPFILE
		{own, "openat", []uint64{0, 0, 0o101, 0o755}, Allow},
		{own, "openat", []uint64{0, 0, 0o2, 0o4755}, Allow}, // no file is made
		{own, "fchownat", nil, Allow},
		{own, "utimensat", nil, Allow},
		{own, "fsetxattr", nil, notSupported},
		{own, "ioctl", []uint64{3, 0x40086602}, notty},
		{own, "openat", []uint64{0, 0, 3 | high}, einval},
		{own, "openat", []uint64{0, 0, 0o101003}, einval},
		{own, "openat", []uint64{0, 0, 0o10000002}, Allow},
		{full, "openat", []uint64{0, 0, 3}, Allow},

		{asked, "fchmod", []uint64{3, 0o755}, UserNotify},
		{asked, "fchmod", []uint64{3, 0o4755}, eperm},
		{asked, "fchmodat", nil, UserNotify},
		{asked, "fchmodat2", nil, UserNotify},
		{asked, "utimensat", nil, UserNotify},
		{asked, "fchown", nil, UserNotify},
		{asked, "fchownat", nil, UserNotify},
		{asked, "fsetxattr", nil, notSupported},
		{asked, "lsetxattr", nil, notSupported},
		{asked, "removexattr", nil, notSupported},
		{asked, "getxattr", nil, Allow},
		{asked, "ioctl", []uint64{3, 0x40086602 | high}, notty},
		{asked, "ioctl", []uint64{3, 0x40806685}, notty}, // FS_IOC_ENABLE_VERITY
		{asked, "ioctl", []uint64{0, 0x5401}, Allow},     // TCGETS
		{asked, "ioctl", []uint64{0, 0x80045430}, Allow}, // TIOCGPTN
		{asked, "ioctl", []uint64{0, 0x5412}, eperm},     // TIOCSTI
		{dated, "utimensat", nil, UserNotify},
		{dated, "fchmod", []uint64{3, 0o755}, Allow},
		{dated, "fchmod", []uint64{3, 0o4755}, eperm},
		{dated, "fchownat", nil, Allow},
		{dated, "fsetxattr", nil, notSupported},
		{refused, "fchmod", []uint64{3, 0o755}, eperm},
		{refused, "utimensat", nil, eperm},

		{old, "truncate", nil, eacces},
		{old, "ftruncate", nil, Allow},
		{old, "openat", []uint64{0, 0, 0o1000 | high}, eacces},
		{old, "openat", []uint64{0, 0, 0o1003}, einval},
		{old, "openat", []uint64{0, 0, 0o1101, 0o644}, Allow},
		{old, "openat", []uint64{0, 0, 0o1002}, Allow},
		{old, "openat", nil, Allow},
	})
}

// TestMemoryOfNobody: what a sample of processes cannot see is there where a control
// group counts it.
func TestMemoryOfNobody(t *testing.T) {
	sampled := Options{MemorySampled: true}
	expect(t, []expectation{
		{Options{}, "memfd_create", nil, Allow},
		{Options{}, "shmget", nil, Allow},
		{sampled, "memfd_create", nil, enosys},
		{sampled, "shmget", nil, enosys},
		{sampled, "msgget", nil, enosys},
		{sampled, "semget", nil, enosys},
		{sampled, "landlock_add_rule", nil, Allow},
		{Options{NoIPC: true}, "shmget", nil, enosys},
		{Options{NoIPC: true}, "mq_open", nil, enosys},
		{Options{NoIPC: true}, "memfd_create", nil, Allow},
	})
}
