package seccomp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The live tests run this test's binary again. The copy reads an order, puts
// itself under a filter, and makes calls or becomes another program.

// helperEnv carries the order as JSON, or the file that it is in behind an @.
const helperEnv = "SECCOMP_TEST_ORDER"

type order struct {
	Filter []byte    // encoded program; empty for a run without, to compare
	Calls  []rawCall // to make, or
	Exec   []string  // a program to become, by absolute path
}

type rawCall struct {
	Number uintptr
	Args   [6]uintptr
}

func TestMain(m *testing.M) {
	if text := os.Getenv(helperEnv); text != "" {
		help(text)
	}
	os.Exit(m.Run())
}

// help carries out an order and ends the process.
func help(text string) {
	var o order
	if file, ok := strings.CutPrefix(text, "@"); ok { // too long for the environment
		content, err := os.ReadFile(file)
		if err != nil {
			fail(err)
		}
		text = string(content)
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fail(err)
	}
	os.Unsetenv(helperEnv)
	runtime.LockOSThread() // a filter belongs to a thread
	if len(o.Filter) > 0 {
		if err := install(o.Filter); err != nil {
			fail(fmt.Errorf("cannot install the filter: %w", err))
		}
	}
	if len(o.Exec) > 0 {
		fail(syscall.Exec(o.Exec[0], o.Exec, os.Environ()))
	}
	results := make([]syscall.Errno, len(o.Calls))
	for i, c := range o.Calls {
		_, _, results[i] = unix.RawSyscall6(c.Number, c.Args[0], c.Args[1], c.Args[2], c.Args[3], c.Args[4], c.Args[5])
	}
	json.NewEncoder(os.Stdout).Encode(results)
	os.Exit(0)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(99)
}

func install(filter []byte) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	program := unix.SockFprog{
		Len:    uint16(len(filter) / InstructionSize),
		Filter: (*unix.SockFilter)(unsafe.Pointer(&filter[0])),
	}
	_, _, errno := unix.RawSyscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&program)))
	if errno != 0 {
		return errno
	}
	return nil
}

// nativeFilter compiles the default policy for this machine.
func nativeFilter(t *testing.T, opts Options) []byte {
	t.Helper()
	arch, err := ArchOf(runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	program, err := Compile(Default(opts), arch)
	if err != nil {
		t.Fatal(err)
	}
	return Marshal(program)
}

// run carries out an order in a process of its own.
func run(t *testing.T, dir string, o order) (stdout string, err error) {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out, errout bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errout
	cmd.Env = append(os.Environ(), helperEnv+"="+string(text))
	err = cmd.Run()
	if errout.Len() > 0 {
		err = errors.Join(err, errors.New(errout.String()))
	}
	return out.String(), err
}

// errnos makes calls in a process of its own and returns their error numbers.
func errnos(t *testing.T, filter []byte, calls []rawCall) []syscall.Errno {
	t.Helper()
	out, err := run(t, "", order{Filter: filter, Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	var results []syscall.Errno
	if err := json.Unmarshal([]byte(out), &results); err != nil {
		t.Fatal(err)
	}
	return results
}
