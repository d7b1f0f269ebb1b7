package cli

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// makesCalls makes system calls that are denied, and a few that are not, and prints what
// each answered. The numbers are x86-64's.
const makesCalls = `
import ctypes, os, threading
libc = ctypes.CDLL(None, use_errno=True)
for number in [101] * 3 + [39, 165, 272, 298, 308, 310, 321, 323, 425, 435, 162, 999, 1000000]:
    ctypes.set_errno(0)
    r = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(-1)] * 6)
    print(number, 'made' if r >= 0 else ctypes.get_errno())
threading.Thread(target=print, args=('a thread',)).start()
`

// TestTraceDenied: each denied call has a line with its name, number, error and count,
// and the program cannot tell that it is traced: every call answers the same.
func TestTraceDenied(t *testing.T) {
	onlyAMD64(t)
	want := []string{
		"system call ptrace (101) failed with EPERM, 3 times: other processes' memory",
		"system call bpf (321) failed with EPERM, once: ",
		"system call io_uring_setup (425) failed with ENOSYS, once: ",
		"system call clone3 (435) failed with ENOSYS, ",
		"system call sync (162) was not made and returned 0, once: ",
		"system call (999) failed with ENOSYS, once: the policy does not know it",
		"system call (1000000) failed with ENOSYS, once: the policy does not know it",
	}
	for _, u := range users(t) {
		for _, level := range []string{"full", "restricted"} {
			t.Run(u.name+"/"+level, func(t *testing.T) {
				run := func(flags ...string) (stdout string, violations []string) {
					args := append(flags, "--isolation", level, "--lang", "python", "--code", makesCalls)
					r, o := invocation{user: u, args: args, env: []string{"TMPDIR=" + ownedTemp(t, u), "PATH=/usr/local/bin:/usr/bin:/bin"}}.result(t)
					if !r.Success {
						t.Fatalf("%s: %s\n%s", r.Status, r.Message, o.stderr)
					}
					return r.Stdout, r.Meta.Violations
				}
				plain, quiet := run()
				if len(quiet) > 0 {
					t.Errorf("without the flag: %q", quiet)
				}
				traced, violations := run("--trace-denied")
				if traced != plain || !strings.Contains(plain, "39 made\n") || !strings.Contains(plain, "101 1\n") || !strings.Contains(plain, "a thread\n") {
					t.Errorf("traced: %q, otherwise: %q", traced, plain)
				}
				for _, line := range want {
					if !slices.ContainsFunc(violations, func(v string) bool { return strings.HasPrefix(v, line) }) {
						t.Errorf("nothing says %q: %q", line, violations)
					}
				}
				if slices.ContainsFunc(violations, func(v string) bool { return strings.Contains(v, "getpid") }) {
					t.Errorf("an allowed call is named: %q", violations)
				}
			})
		}
	}
}

// TestTraceDeniedInGo: a person reads it below the output, and no more than is bearable.
func TestTraceDeniedInGo(t *testing.T) {
	onlyAMD64(t)
	const program = `package main

import (
	"fmt"
	"syscall"
)

func main() {
	_, _, errno := syscall.Syscall(101, 0, 0, 0)
	fmt.Println(int(errno))
	for n := range uintptr(100) {
		syscall.Syscall(2000+n, 0, 0, 0)
	}
}
`
	for _, level := range []string{"full", "restricted"} {
		o := sandboxRun(t, "--trace-denied", "--isolation", level, "--lang", "go", "--code", program)
		for _, line := range []string{"── denied: system call ptrace (101) failed with EPERM, once: ", "── denied: system call (2000) failed with ENOSYS, once: ", "more; --json has them all"} {
			if !strings.Contains(o.stderr, line) {
				t.Errorf("%s: nothing says %q: %s", level, line, o.stderr)
			}
		}
		if o.stdout != "1\n" || o.code != 0 {
			t.Errorf("%s: %+v", level, o)
		}
		r, _ := invocation{user: user{self: true}, args: []string{"--trace-denied", "--isolation", level, "--lang", "go", "--code", program}}.result(t)
		if last := r.Meta.Violations; len(last) != 51 || !strings.HasPrefix(last[50], "further system calls were denied, ") {
			t.Errorf("%s: %d lines: %q", level, len(last), last)
		}
	}
	o := sandboxRun(t, "--trace-denied", "--lang", "exec", "--", "true")
	if !strings.Contains(o.stderr, "── denied: no system call\n") {
		t.Errorf("of a program that is denied nothing: %s", o.stderr)
	}
}

// TestTraceDeniedWithNetwork: what the supervisor decides besides is decided as ever.
func TestTraceDeniedWithNetwork(t *testing.T) {
	onlyAMD64(t)
	for _, level := range []string{"full", "restricted"} {
		self := user{self: true}
		r, o := invocation{user: self, env: []string{"TMPDIR=" + ownedTemp(t, self), "PATH=/usr/local/bin:/usr/bin:/bin"}, args: []string{"--trace-denied", "--isolation", level, "--allow", "198.51.100.1:80", "--lang", "python", "--code", `
import socket
for f in lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW), lambda: socket.create_connection(('192.0.2.7', 80), 5):
    try: f()
    except OSError as e: print(e.errno)
`}}.result(t)
		all := fmt.Sprintf("%q", r.Meta.Violations)
		if !r.Success || !strings.Contains(all, "system call socket (41) failed with EAFNOSUPPORT, once: families beyond IP") || !strings.Contains(all, "192.0.2.7:80 refused") {
			t.Errorf("%s: %s: %q %s\n%s", level, r.Status, r.Stdout, all, o.stderr)
		}
	}
}

// TestTraceDeniedRefused: where nobody would hear of a call, nothing runs.
func TestTraceDeniedRefused(t *testing.T) {
	o := sandboxRun(t, "--trace-denied", "--isolation", "none", "--lang", "python", "--code", "print(1)")
	if o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, "at isolation none no filter denies any") {
		t.Errorf("isolation none: %+v", o)
	}
}

func onlyAMD64(t *testing.T) {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the numbers are those of x86-64")
	}
}
