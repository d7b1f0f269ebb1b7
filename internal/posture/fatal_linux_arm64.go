package posture

import "syscall"

var fatal = []uint64{syscall.SYS_RT_SIGRETURN, syscall.SYS_EXIT, syscall.SYS_EXIT_GROUP, syscall.SYS_SYNC}
