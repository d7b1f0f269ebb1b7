package seccomp

import "testing"

// TestWhatAHostHasOnce: nobody takes it, and nobody throws it away.
func TestWhatAHostHasOnce(t *testing.T) {
	invalid := Fail(EINVAL)
	expect(t, []expectation{
		{Options{}, "mmap", []uint64{0, 4096, 3, 0x22}, Allow},
		{Options{}, "mmap", []uint64{0, 4096, 3, 0x40022}, Fail(ENOMEM)},
		{Options{}, "mmap", []uint64{0, 4096, 3, 0x40022 | 21<<26}, Fail(ENOMEM)}, // of 2 MiB
		{Options{}, "memfd_create", []uint64{0, 1}, Allow},
		{Options{}, "memfd_create", []uint64{0, 5 | high}, invalid},
		{Options{}, "shmget", []uint64{0, 4096, 0o1600}, Allow},
		{Options{}, "shmget", []uint64{0, 4096, 0o5600 | high}, eperm},
		{Options{}, "fadvise64", []uint64{3, 0, 0, 2}, Allow},
		{Options{}, "fadvise64", []uint64{3, 0, 0, 4 | high}, Ignore},
		{Options{}, "madvise", []uint64{0, 4096, 4}, Allow}, // of one's own
		{Options{}, "madvise", []uint64{0, 4096, 21 | high}, Ignore},
		{Options{}, "ioctl", []uint64{3, 0x5423 | high}, invalid},
		{Options{Restricted: true}, "ioctl", []uint64{3, 0x5423}, invalid},
		{Options{}, "ioctl", []uint64{3, 0x8940 | high}, invalid},
		{Options{}, "ioctl", []uint64{3, 0x8982}, invalid},
		{Options{}, "ioctl", []uint64{3, 0x89a0}, invalid},
		{Options{}, "ioctl", []uint64{3, 0x8913}, Allow}, // flags of an interface
		{Options{}, "setsockopt", []uint64{3, 1, 26}, eperm},
		{Options{}, "setsockopt", []uint64{3, 1 | high, 26 | high}, eperm},
		{Options{}, "setsockopt", []uint64{3, 1, 50}, eperm},
		{Options{}, "setsockopt", []uint64{3, 1, 51}, eperm},
		{Options{}, "setsockopt", []uint64{3, 1, 52}, eperm},
		{Options{}, "setsockopt", []uint64{3, 6, 26}, Allow}, // of TCP
		{Options{}, "setsockopt", []uint64{3, 1, 27}, Allow}, // to be without one again
		{Options{Outer: true}, "setsockopt", []uint64{3, 1, 26}, eperm},
		{Options{}, "setsockopt", []uint64{3, 1, 29 | high}, Fail(ENOPROTOOPT)},
		{Options{Inet: true}, "setsockopt", []uint64{3, 1, 35}, Fail(ENOPROTOOPT)},
		{Options{Inet: true}, "setsockopt", []uint64{3, 1, 37}, Fail(ENOPROTOOPT)},
		{Options{Inet: true}, "setsockopt", []uint64{3, 1, 65}, Fail(ENOPROTOOPT)},
		{Options{Inet: true}, "setsockopt", []uint64{3, 1, 66}, Allow},
		{Options{}, "seccomp", []uint64{1, 0}, invalid},
		{Options{}, "seccomp", []uint64{1 | high, 8}, invalid},
		{Options{}, "seccomp", []uint64{0, 0}, Allow}, // strict
		{Options{}, "seccomp", []uint64{2, 0}, Allow}, // which actions there are
		{Options{Supervised: true, Inet: true}, "seccomp", []uint64{1, 8}, invalid},
		{Options{}, "prctl", []uint64{22 | high, 2}, invalid},
		{Options{}, "prctl", []uint64{22, 1}, Allow},
		{Options{}, "prctl", []uint64{38, 1}, Allow}, // no new privileges
		{Options{Outer: true}, "seccomp", []uint64{1, 0}, Allow},
		{Options{Outer: true}, "seccomp", []uint64{1, 8 | high}, eperm},
		{Options{Outer: true}, "prctl", []uint64{22, 2}, Allow},
	})
}
