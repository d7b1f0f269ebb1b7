package executor

import (
	"fmt"
	"strings"
)

// signalNames are the signals of Linux by number (signal(7)), which are what a
// result means on whatever system this is compiled for.
const signalNames = "HUP INT QUIT ILL TRAP ABRT BUS FPE KILL USR1 SEGV USR2 PIPE ALRM TERM STKFLT CHLD CONT STOP TSTP TTIN TTOU URG XCPU XFSZ VTALRM PROF WINCH IO PWR SYS"

// sigXCPU is the signal of RLIMIT_CPU.
const sigXCPU = 24

// signalName is SIGKILL and its kin, or empty for 0.
func signalName(n int) string {
	if n == 0 {
		return ""
	}
	names := strings.Fields(signalNames)
	if n <= len(names) {
		return "SIG" + names[n-1]
	}
	return fmt.Sprintf("SIG%d", n)
}
