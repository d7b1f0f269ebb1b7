// What a program tries that must be refused: an attempt that works is a line of output,
// and so is one that is refused in another way than the row says.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

var denied = []syscall.Errno{syscall.EPERM, syscall.ENOSYS}

// refused is a system call that must fail with one of the errors.
func refused(what string, errors []syscall.Errno, number uintptr, args ...uintptr) {
	var a [6]uintptr
	copy(a[:], args)
	value, _, err := syscall.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	if !slices.Contains(errors, err) {
		fmt.Printf("%s: returned %d, %v\n", what, int(value), err)
	}
}

// fails is a result that must be a failure.
func fails(what string, err error) {
	if err == nil {
		fmt.Println(what + ": worked")
	}
}

// at is where a string of C lies; it never goes.
func at(text string) uintptr {
	b := append([]byte(text), 0)
	kept = append(kept, b)
	return uintptr(unsafe.Pointer(&b[0]))
}

var kept [][]byte

// processes are the ids of those that can be seen, but this one.
func processes() (ids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		if id, err := strconv.Atoi(e.Name()); err == nil && id != os.Getpid() {
			ids = append(ids, id)
		}
	}
	return ids
}

// atCWD is AT_FDCWD: from the directory that the program is in.
const atCWD = ^uintptr(99)

// atNumbers is where numbers lie; they never go.
func atNumbers(of ...uint64) uintptr {
	keptNumbers = append(keptNumbers, of)
	return uintptr(unsafe.Pointer(&of[0]))
}

var keptNumbers [][]uint64

// fork is a copy of this thread alone: its id, or 0 in the copy. Without the other threads of
// Go's runtime that may make raw system calls, and nothing else.
//
//go:nosplit
func fork() int {
	id, _, _ := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	return int(id)
}

// die ends the process by a signal, which Go's runtime would otherwise handle.
//
//go:nosplit
func die(by syscall.Signal) {
	var action [4]uintptr // the default
	syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(by), uintptr(unsafe.Pointer(&action)), 0, 8, 0, 0)
	id, _, _ := syscall.RawSyscall(syscall.SYS_GETPID, 0, 0, 0)
	for {
		syscall.RawSyscall(syscall.SYS_KILL, id, uintptr(by), 0)
	}
}
