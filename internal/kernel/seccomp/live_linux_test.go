package seccomp

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLiveCalls lets the kernel itself judge. Each call is also made without
// the filter: where both answers are the same, the filter has proved nothing,
// which must not happen to root on a host without a filter of its own.
func TestLiveCalls(t *testing.T) {
	const none = ^uintptr(0)
	const unknown = 1000 // no kernel has so many
	tests := []struct {
		name string
		call rawCall
		want syscall.Errno
		same bool // the kernel answers alike without the filter
	}{
		{"getpid", rawCall{unix.SYS_GETPID, [6]uintptr{}}, 0, true},
		{"clone3", rawCall{unix.SYS_CLONE3, [6]uintptr{}}, unix.ENOSYS, false},
		{"clone of a user namespace", rawCall{unix.SYS_CLONE, [6]uintptr{unix.CLONE_NEWUSER | unix.CLONE_FS}}, unix.EPERM, false},
		{"unshare", rawCall{unix.SYS_UNSHARE, [6]uintptr{unix.CLONE_NEWUTS}}, unix.EPERM, false},
		{"setns", rawCall{unix.SYS_SETNS, [6]uintptr{none}}, unix.EPERM, false},
		{"mount", rawCall{unix.SYS_MOUNT, [6]uintptr{}}, unix.EPERM, false},
		{"fsopen", rawCall{unix.SYS_FSOPEN, [6]uintptr{}}, unix.ENOSYS, false},
		{"statmount", rawCall{unix.SYS_STATMOUNT, [6]uintptr{}}, unix.ENOSYS, false},
		{"keyctl", rawCall{unix.SYS_KEYCTL, [6]uintptr{unix.KEYCTL_GET_KEYRING_ID, none - 1}}, unix.EPERM, false},
		{"add_key", rawCall{unix.SYS_ADD_KEY, [6]uintptr{}}, unix.EPERM, false},
		{"bpf", rawCall{unix.SYS_BPF, [6]uintptr{none}}, unix.EPERM, false},
		{"perf_event_open", rawCall{unix.SYS_PERF_EVENT_OPEN, [6]uintptr{}}, unix.EPERM, false},
		{"userfaultfd", rawCall{unix.SYS_USERFAULTFD, [6]uintptr{none}}, unix.EPERM, false},
		{"io_uring_setup", rawCall{unix.SYS_IO_URING_SETUP, [6]uintptr{1}}, unix.ENOSYS, false},
		{"io_setup", rawCall{unix.SYS_IO_SETUP, [6]uintptr{}}, unix.ENOSYS, false},
		{"ptrace", rawCall{unix.SYS_PTRACE, [6]uintptr{none}}, unix.EPERM, false},
		{"process_vm_readv", rawCall{unix.SYS_PROCESS_VM_READV, [6]uintptr{none}}, unix.EPERM, false},
		{"pidfd_getfd", rawCall{unix.SYS_PIDFD_GETFD, [6]uintptr{none, none}}, unix.EPERM, false},
		{"open_by_handle_at", rawCall{unix.SYS_OPEN_BY_HANDLE_AT, [6]uintptr{none}}, unix.EPERM, false},
		{"chroot", rawCall{unix.SYS_CHROOT, [6]uintptr{}}, unix.EPERM, false},
		{"setdomainname", rawCall{unix.SYS_SETDOMAINNAME, [6]uintptr{0, none}}, unix.EPERM, false},
		{"adjtimex", rawCall{unix.SYS_ADJTIMEX, [6]uintptr{}}, unix.EPERM, false},
		{"sched_setaffinity", rawCall{unix.SYS_SCHED_SETAFFINITY, [6]uintptr{}}, unix.EPERM, false},
		{"a listener", rawCall{unix.SYS_SECCOMP, [6]uintptr{unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER}}, unix.EINVAL, false},
		{"PR_SET_MM", rawCall{unix.SYS_PRCTL, [6]uintptr{unix.PR_SET_MM, 0, 0, 0, 1}}, unix.EPERM, false},
		{"PR_SET_MM with a stray bit", rawCall{unix.SYS_PRCTL, [6]uintptr{unix.PR_SET_MM | 1<<32, 0, 0, 0, 1}}, unix.EPERM, false},
		{"TIOCSTI", rawCall{unix.SYS_IOCTL, [6]uintptr{0, unix.TIOCSTI}}, unix.EPERM, false},
		{"TIOCSTI with a stray bit", rawCall{unix.SYS_IOCTL, [6]uintptr{0, unix.TIOCSTI | 1<<32}}, unix.EPERM, false},
		{"READ_IMPLIES_EXEC", rawCall{unix.SYS_PERSONALITY, [6]uintptr{0x0400000}}, unix.EPERM, false},
		{"asking for the personality", rawCall{unix.SYS_PERSONALITY, [6]uintptr{0xffffffff}}, 0, true},
		{"an unknown number", rawCall{unknown, [6]uintptr{}}, unix.ENOSYS, true},
		{"a stream socket", rawCall{unix.SYS_SOCKET, [6]uintptr{unix.AF_UNIX, unix.SOCK_STREAM}}, 0, true},
		// The kernel ignores the high half of an int, and so does the filter.
		{"a stray bit in a family", rawCall{unix.SYS_SOCKET, [6]uintptr{unix.AF_UNIX | 1<<32, unix.SOCK_STREAM}}, 0, true},
	}
	var calls []rawCall
	for _, test := range tests {
		calls = append(calls, test.call)
	}
	filtered, bare := errnos(t, nativeFilter(t, Options{}), calls), errnos(t, nil, calls)
	for i, test := range tests {
		if filtered[i] != test.want {
			t.Errorf("%s: got %v, want %v", test.name, filtered[i], test.want)
		}
		if (bare[i] == filtered[i]) == test.same {
			continue
		}
		if os.Geteuid() == 0 && !underFilter(t) && bare[i] != unix.ENOSYS { // an older kernel does not have it
			t.Errorf("%s: without the filter: %v", test.name, bare[i])
		} else {
			t.Logf("%s proves nothing here: %v without the filter too", test.name, bare[i])
		}
	}
}

// underFilter tells whether this test runs under somebody else's filter.
func underFilter(t *testing.T) bool {
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return mode != 0
}

func TestLiveFamilies(t *testing.T) {
	for _, opts := range []Options{{}, {Inet: true}, {Restricted: true}, {Inet: true, Restricted: true}, {Inet: true, Supervised: true}, {Inet: true, Restricted: true, Supervised: true}} {
		var calls []rawCall
		for family := range uintptr(51) {
			calls = append(calls, rawCall{unix.SYS_SOCKET, [6]uintptr{family, unix.SOCK_DGRAM}})
		}
		for family, got := range errnos(t, nativeFilter(t, opts), calls) {
			want := unix.EAFNOSUPPORT
			allowed, asked := wantedSocket(opts, uint64(family), sockDgram)
			switch {
			case allowed:
				want = 0
			case asked:
				want = nobodyListens
			case opts.Inet && (family == unix.AF_INET || family == unix.AF_INET6):
				want = unix.ESOCKTNOSUPPORT
			}
			if got != want {
				t.Errorf("%+v: family %d: got %v, want %v", opts, family, got, want)
			}
		}
	}
}

// nobodyListens is the kernel's answer to a call that a filter asks about when
// it was installed without a listener.
const nobodyListens = unix.ENOSYS

// TestLiveConnections lets the kernel judge what sockets of the host's network
// are good for.
func TestLiveConnections(t *testing.T) {
	const none = ^uintptr(0)
	for opts, answers := range map[Options][]syscall.Errno{
		{Inet: true, Restricted: true}:                   {unix.EACCES, unix.EACCES, unix.EACCES, unix.EOPNOTSUPP, unix.EOPNOTSUPP, unix.EOPNOTSUPP, unix.EBADF, unix.EPERM},
		{Inet: true, Restricted: true, Supervised: true}: {nobodyListens, unix.EACCES, unix.EACCES, unix.EOPNOTSUPP, unix.EOPNOTSUPP, unix.EOPNOTSUPP, unix.EBADF, nobodyListens},
		{Inet: true, Supervised: true}:                   {unix.EBADF, unix.EBADF, unix.EBADF, unix.EBADF, unix.EBADF, unix.EBADF, unix.EBADF, nobodyListens},
	} {
		got := errnos(t, nativeFilter(t, opts), []rawCall{
			{unix.SYS_CONNECT, [6]uintptr{none}}, {unix.SYS_BIND, [6]uintptr{none}}, {unix.SYS_LISTEN, [6]uintptr{none}},
			{unix.SYS_SENDTO, [6]uintptr{none, 0, 0, unix.MSG_FASTOPEN | 1<<32}}, {unix.SYS_SENDMSG, [6]uintptr{none, 0, unix.MSG_FASTOPEN}}, {unix.SYS_SENDMMSG, [6]uintptr{none, 0, 0, unix.MSG_FASTOPEN}},
			{unix.SYS_SENDTO, [6]uintptr{none}}, {unix.SYS_SOCKET, [6]uintptr{unix.AF_INET | 1<<32, unix.SOCK_RAW | unix.SOCK_CLOEXEC, 1}},
		})
		if !slices.Equal(got, answers) {
			t.Errorf("%+v: %v, want %v", opts, got, answers)
		}
	}
}

// TestLiveBuffers: the size of a socket's buffer does not change, and the
// program is told that it did.
func TestLiveBuffers(t *testing.T) {
	script := "import socket; s = socket.socket(); a = s.getsockopt(1, 8); s.setsockopt(1, 8, 64*a); " +
		"s.setsockopt(6, 1, 1); print(s.getsockopt(1, 8) == a)"
	python := tool(t, "/usr/bin/python3")
	for _, noUDP := range []bool{true, false} {
		filter := nativeFilter(t, Options{Inet: true, NoUDP: noUDP})
		out, err := run(t, "", order{Filter: filter, Exec: []string{python, "-c", script}})
		if want := map[bool]string{true: "True\n", false: "False\n"}[noUDP]; err != nil || out != want {
			t.Errorf("NoUDP %v: %q, %v", noUDP, out, err)
		}
	}
}

// TestLivePrograms runs the hello of five languages under the filter.
func TestLivePrograms(t *testing.T) {
	sources := map[string]string{
		"main.py":   "import threading, subprocess, tempfile\nt = threading.Thread(target=print, args=('hello',)); t.start(); t.join()\nsubprocess.run(['true'], check=True)\n",
		"main.js":   "const {execFileSync} = require('child_process'); execFileSync('true'); setTimeout(() => console.log('hello'), 1)\n",
		"main.go":   "package main\n\nimport \"os\"\n\nfunc main() { c := make(chan string); go func() { c <- \"hello\\n\" }(); os.Stdout.WriteString(<-c) }\n",
		"main.rs":   "fn main() { std::thread::spawn(|| println!(\"hello\")).join().unwrap(); std::process::Command::new(\"true\").status().unwrap(); }\n",
		"Main.java": "class Main { public static void main(String[] a) throws Exception { var t = new Thread(() -> System.out.println(\"hello\")); t.start(); t.join(); new ProcessBuilder(\"true\").start().waitFor(); } }\n",
	}
	tests := []struct {
		name  string
		tools []string // names on PATH or absolute paths
		steps [][]string
	}{
		{"python", []string{"/usr/bin/python3"}, [][]string{{"0", "main.py"}}},
		{"node", []string{"node"}, [][]string{{"0", "main.js"}}},
		{"go", []string{"go"}, [][]string{{"0", "build", "-trimpath", "-o", "go.out", "main.go"}, {"./go.out"}}},
		{"rust", []string{"rustc"}, [][]string{{"0", "-o", "rust.out", "main.rs"}, {"./rust.out"}}},
		{"java", []string{"javac", "java"}, [][]string{{"0", "Main.java"}, {"1", "Main"}}},
	}
	for _, opts := range []Options{{}, {Restricted: true}, {Inet: true, NoUDP: true}, {Inet: true, Restricted: true, Supervised: true}} {
		filter := nativeFilter(t, opts)
		for _, test := range tests {
			t.Run(fmt.Sprintf("%s/%+v", test.name, opts), func(t *testing.T) {
				dir := t.TempDir()
				for name, source := range sources {
					if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				out := ""
				for _, step := range test.steps {
					argv := append([]string{program(t, dir, test.tools, step[0])}, step[1:]...)
					text, err := run(t, dir, order{Filter: filter, Exec: argv})
					out += text
					if err != nil {
						t.Fatalf("%v: %v\n%s", argv, err, text)
					}
				}
				if out != "hello\n" {
					t.Errorf("got %q", out)
				}
			})
		}
	}
}

// program returns the path of a step's program: an index of tools, or a file.
func program(t *testing.T, dir string, tools []string, word string) string {
	if strings.HasPrefix(word, "./") {
		return filepath.Join(dir, word)
	}
	return tool(t, tools[word[0]-'0'])
}

// tool finds a program, behind rustup's stand-in where that is what PATH has.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("%s is not installed here: %v", name, err)
	}
	if name == "rustc" {
		if out, err := exec.Command("rustup", "which", "rustc").Output(); err == nil {
			return strings.TrimSpace(string(out))
		}
	}
	return path
}
