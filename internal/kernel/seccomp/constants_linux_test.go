package seccomp

import (
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// TestConstants holds what is written out here, so that the package works on
// every operating system, against the constants of the kernel.
func TestConstants(t *testing.T) {
	tests := []struct {
		name      string
		got, want uint64
	}{
		{"AMD64", uint64(AMD64), unix.AUDIT_ARCH_X86_64},
		{"ARM64", uint64(ARM64), unix.AUDIT_ARCH_AARCH64},
		{"KillProcess", uint64(KillProcess), unix.SECCOMP_RET_KILL_PROCESS},
		{"actionErrno", uint64(actionErrno), unix.SECCOMP_RET_ERRNO},
		{"UserNotify", uint64(UserNotify), unix.SECCOMP_RET_USER_NOTIF},
		{"Allow", uint64(Allow), unix.SECCOMP_RET_ALLOW},
		{"actionMask", uint64(actionMask), unix.SECCOMP_RET_ACTION_FULL},
		{"EPERM", uint64(EPERM), uint64(unix.EPERM)},
		{"ENOMEM", uint64(ENOMEM), uint64(unix.ENOMEM)},
		{"EACCES", uint64(EACCES), uint64(unix.EACCES)},
		{"EINVAL", uint64(EINVAL), uint64(unix.EINVAL)},
		{"ENOTTY", uint64(ENOTTY), uint64(unix.ENOTTY)},
		{"O_ACCMODE", openAccess, unix.O_ACCMODE},
		{"O_CREAT", openCreate, unix.O_CREAT},
		{"O_TRUNC", openTrunc, unix.O_TRUNC},
		{"O_TMPFILE", openTmpfile | unix.O_DIRECTORY, unix.O_TMPFILE},
		{"S_ISUID", setUserID, unix.S_ISUID},
		{"S_ISGID", setGroupID, unix.S_ISGID},
		{"ENOSYS", uint64(ENOSYS), uint64(unix.ENOSYS)},
		{"ENOPROTOOPT", uint64(ENOPROTOOPT), uint64(unix.ENOPROTOOPT)},
		{"EPROTONOSUPPORT", uint64(EPROTONOSUPPORT), uint64(unix.EPROTONOSUPPORT)},
		{"ESOCKTNOSUPPORT", uint64(ESOCKTNOSUPPORT), uint64(unix.ESOCKTNOSUPPORT)},
		{"EOPNOTSUPP", uint64(EOPNOTSUPP), uint64(unix.EOPNOTSUPP)},
		{"EAFNOSUPPORT", uint64(EAFNOSUPPORT), uint64(unix.EAFNOSUPPORT)},
		{"opLoad", opLoad, unix.BPF_LD | unix.BPF_W | unix.BPF_ABS},
		{"opAnd", opAnd, unix.BPF_ALU | unix.BPF_AND | unix.BPF_K},
		{"opJump", opJump, unix.BPF_JMP | unix.BPF_JA},
		{"opJumpEqual", opJumpEqual, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K},
		{"opJumpGreater", opJumpGreater, unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K},
		{"opJumpAtLeast", opJumpAtLeast, unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K},
		{"opReturn", opReturn, unix.BPF_RET | unix.BPF_K},
		{"MaxInstructions", MaxInstructions, unix.BPF_MAXINSNS},
		{"InstructionSize", InstructionSize, unix.SizeofSockFilter},
		{"afUnix", afUnix, unix.AF_UNIX},
		{"afInet", afInet, unix.AF_INET},
		{"afInet6", afInet6, unix.AF_INET6},
		{"afPacket", afPacket, unix.AF_PACKET},
		{"sockStream", sockStream, unix.SOCK_STREAM},
		{"sockDgram", sockDgram, unix.SOCK_DGRAM},
		{"sockRaw", sockRaw, unix.SOCK_RAW},
		{"sockSeqpacket", sockSeqpacket, unix.SOCK_SEQPACKET},
		{"protoTCP", protoTCP, unix.IPPROTO_TCP},
		{"protoUDP", protoUDP, unix.IPPROTO_UDP},
		{"solSocket", solSocket, unix.SOL_SOCKET},
		{"soSndbuf", soSndbuf, unix.SO_SNDBUF},
		{"soRcvbuf", soRcvbuf, unix.SO_RCVBUF},
		{"soSndbufForce", soSndbufForce, unix.SO_SNDBUFFORCE},
		{"soRcvbufForce", soRcvbufForce, unix.SO_RCVBUFFORCE},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("%s is %#x, and %#x to the kernel", test.name, test.got, test.want)
		}
	}
}

// TestNumbersOfThisMachine holds the table against the numbers that this test
// was built with.
func TestNumbersOfThisMachine(t *testing.T) {
	arch, err := ArchOf(runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	for name, want := range map[string]int{
		"read": unix.SYS_READ, "openat": unix.SYS_OPENAT, "mmap": unix.SYS_MMAP, "clone": unix.SYS_CLONE,
		"execveat": unix.SYS_EXECVEAT, "socket": unix.SYS_SOCKET, "prctl": unix.SYS_PRCTL, "bpf": unix.SYS_BPF,
		"clone3": unix.SYS_CLONE3, "landlock_restrict_self": unix.SYS_LANDLOCK_RESTRICT_SELF,
		"mseal": unix.SYS_MSEAL, "newfstatat": unix.SYS_NEWFSTATAT, "rseq_slice_yield": unix.SYS_RSEQ_SLICE_YIELD,
	} {
		if got, _ := arch.number(name); got != want {
			t.Errorf("%s: got %d, want %d", name, got, want)
		}
	}
}
