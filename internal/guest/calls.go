package guest

import (
	"fmt"
	"syscall"
)

// calls are the numbers of the system calls of an architecture, and the constants
// that differ between architectures (asm-generic/unistd.h, asm-generic/fcntl.h and
// their relatives of Linux 6.18).
type calls struct {
	read, write, close, pread64, lseek, openat, mkdirat, unlinkat, fchmod, getdents64, statx, statfs int
	pipe2, dup3, fcntl, ioctl, clone, execve, kill, setsid, umask, chdir, prctl, prlimit64           int
	rtSigprocmask, seccomp, symlinkat, eventfd2                                                      int
	oDirectory, oNofollow                                                                            int
}

func callsOf(arch string) (calls, error) {
	switch arch {
	case "amd64":
		return calls{
			read: 0, write: 1, close: 3, pread64: 17, lseek: 8, openat: 257, mkdirat: 258, unlinkat: 263, fchmod: 91, getdents64: 217, statx: 332, statfs: 137,
			pipe2: 293, dup3: 292, fcntl: 72, ioctl: 16, clone: 56, execve: 59, kill: 62, setsid: 112, umask: 95, chdir: 80, prctl: 157, prlimit64: 302,
			rtSigprocmask: 14, seccomp: 317, symlinkat: 266, eventfd2: 290,
			oDirectory: 0x10000, oNofollow: 0x20000,
		}, nil
	case "arm64":
		return calls{
			read: 63, write: 64, close: 57, pread64: 67, lseek: 62, openat: 56, mkdirat: 34, unlinkat: 35, fchmod: 52, getdents64: 61, statx: 291, statfs: 43,
			pipe2: 59, dup3: 24, fcntl: 25, ioctl: 29, clone: 220, execve: 221, kill: 129, setsid: 157, umask: 166, chdir: 49, prctl: 167, prlimit64: 261,
			rtSigprocmask: 135, seccomp: 277, symlinkat: 36, eventfd2: 19,
			oDirectory: 0x4000, oNofollow: 0x8000,
		}, nil
	}
	return calls{}, fmt.Errorf("no init for containers of the architecture %s: amd64 or arm64", arch)
}

// pageBytes is the most that a page has in kernels of an architecture.
func pageBytes(arch string) int64 {
	if arch == "arm64" {
		return 64 << 10
	}
	return 4 << 10
}

// Constants of Linux that are the same on both architectures. Those of package
// syscall are the host's, which may be another system.
const (
	atFDCWD           = -100
	atSymlinkNofollow = 0x100
	atEmptyPath       = 0x1000
	oRDONLY           = 0
	oWRONLY           = 1
	oRDWR             = 2
	oCREAT            = 0x40
	oEXCL             = 0x80
	oNOCTTY           = 0x100
	oAPPEND           = 0x400
	oNONBLOCK         = 0x800
	oCLOEXEC          = 0x80000
	oPATH             = 0x200000
	fSETFL            = 4
	cloneVFORK        = 0x4000
	sigchld           = 17
	sigkill           = 9
	prSETDumpable     = 4
	statxBasic        = 0x7ff
	tiocSCTTY         = 0x540e
	tiocSPTLCK        = 0x40045431
	tiocGPTN          = 0x80045430
	fIONREAD          = 0x541b
	modeType          = 0o170000
	modeRegular       = 0o100000
	modeDirectory     = 0o040000
	modeSymlink       = 0o120000
	modeFIFO          = 0o010000
	modeSocket        = 0o140000
	modeCharDevice    = 0o020000
	modeBlockDevice   = 0o060000
	rlimitFSIZE       = 1
	rlimitCORE        = 4
	rlimitNOFILE      = 7
	rlimitMEMLOCK     = 8
	rlimitSIGPENDING  = 11
	rlimitMSGQUEUE    = 12
	ePERM             = syscall.Errno(1)
	eNOENT            = syscall.Errno(2)
	eSRCH             = syscall.Errno(3)
	eAGAIN            = syscall.Errno(11)
	eEXIST            = syscall.Errno(17)
	eNOTTY            = syscall.Errno(25)
)
