package landlock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The live test runs this test's binary again. The copy puts the rules upon
// itself and tries the deeds below; its answers come back as JSON.

const helperEnv = "LANDLOCK_TEST_ORDER"

// order is what the copy is told. With ABI 0 it stays free, to compare.
type order struct {
	ABI      int
	Rules    Rules
	Dir      string
	Port     int
	Abstract string
	Parent   int
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
	err := json.Unmarshal([]byte(text), &o)
	runtime.LockOSThread() // the rules bind a thread
	if err == nil && o.ABI > 0 {
		err = restrict(o.Rules, o.ABI)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	answers := map[string]syscall.Errno{}
	for _, d := range deeds {
		var errno syscall.Errno
		if err := d.do(o); err != nil && !errors.As(err, &errno) {
			fmt.Fprintln(os.Stderr, d.name, err)
			os.Exit(99)
		}
		answers[d.name] = errno
	}
	json.NewEncoder(os.Stdout).Encode(answers)
	os.Exit(0)
}

// restrict does what the package comment tells the caller to do.
func restrict(rules Rules, abi int) error {
	set, err := rules.Build(abi)
	if err != nil {
		return err
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&set.Attr[0])), uintptr(len(set.Attr)), 0)
	if errno != 0 {
		return fmt.Errorf("landlock_create_ruleset: %w", errno)
	}
	for _, p := range set.Paths {
		path, err := unix.Open(p.Path, unix.O_PATH|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("%s: %w", p.Path, err)
		}
		attr := p.Attr(int32(path))
		if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, fd, RulePathBeneath, uintptr(unsafe.Pointer(&attr[0])), 0, 0, 0); errno != 0 {
			return fmt.Errorf("landlock_add_rule of %s: %w", p.Path, errno)
		}
		unix.Close(path)
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock_restrict_self: %w", errno)
	}
	return nil
}

const never, always = 99, 1

const deviceDeed = "make a device inside"

// deeds are tried in this order, each with the ABI from which it is denied.
var deeds = []struct {
	name   string
	denied int
	errno  syscall.Errno
	do     func(order) error
}{
	{"read a file to read", never, 0, open("readonly/file", os.O_RDONLY)},
	{"write a file to read", always, unix.EACCES, open("readonly/file", os.O_WRONLY)},
	{"create beside a file to read", always, unix.EACCES, open("readonly/new", os.O_CREATE|os.O_WRONLY)},
	{"run a file to read", never, 0, run("readonly/true")},
	{"run a file outside", always, unix.EACCES, run("outside/true")},
	{"read a file outside", always, unix.EACCES, open("outside/file", os.O_RDONLY)},
	{"list outside", always, unix.EACCES, list("outside")},
	{"create outside", always, unix.EACCES, open("outside/new", os.O_CREATE|os.O_WRONLY)},
	{"truncate outside", abiTruncate, unix.EACCES, truncate("outside/file")},
	{"truncate a file to read", abiTruncate, unix.EACCES, truncate("readonly/file")},
	{"write inside", never, 0, open("inside/file", os.O_WRONLY|os.O_TRUNC)},
	{"create inside", never, 0, open("inside/new", os.O_CREATE|os.O_WRONLY)},
	{"truncate inside", never, 0, truncate("inside/file")},
	{"list inside", never, 0, list("inside")},
	{"make a directory inside", never, 0, func(o order) error { return os.Mkdir(filepath.Join(o.Dir, "inside/sub"), 0o700) }},
	{"make a queue inside", never, 0, mknod("inside/queue", unix.S_IFIFO)},
	{deviceDeed, always, unix.EACCES, mknod("inside/device", unix.S_IFCHR)},
	{"rename inside", never, 0, rename("inside/new", "inside/newer")},
	{"move between directories inside", always, unix.EXDEV, rename("inside/file", "inside/sub/file")}, // see TestLive
	{"move out", always, unix.EACCES, rename("inside/mine", "outside/mine")},
	{"move in", always, unix.EACCES, rename("readonly/file", "inside/stolen")},
	{"remove inside", never, 0, func(o order) error { return os.Remove(filepath.Join(o.Dir, "inside/newer")) }},
	{"remove outside", always, unix.EACCES, func(o order) error { return os.Remove(filepath.Join(o.Dir, "outside/spare")) }},
	{"write a file named itself", never, 0, open("lone", os.O_WRONLY)},
	{"control a device", abiIoctlDev, unix.EACCES, ioctl("/dev/zero")},
	{"control a device named itself", never, 0, ioctl("/dev/null")},
	{"bind TCP", abiNet, unix.EACCES, bindTCP},
	{"connect TCP", abiNet, unix.EACCES, connectTCP},
	{"connect an abstract socket", abiScope, unix.EPERM, connectAbstract},
	{"signal the parent", abiScope, unix.EPERM, func(o order) error { return unix.Kill(o.Parent, 0) }},
}

func open(name string, flags int) func(order) error {
	return func(o order) error {
		f, err := os.OpenFile(filepath.Join(o.Dir, name), flags, 0o600)
		if err == nil {
			f.Close()
		}
		return err
	}
}

func run(name string) func(order) error {
	return func(o order) error { return exec.Command(filepath.Join(o.Dir, name)).Run() }
}

func list(name string) func(order) error {
	return func(o order) error {
		_, err := os.ReadDir(filepath.Join(o.Dir, name))
		return err
	}
}

func truncate(name string) func(order) error {
	return func(o order) error { return unix.Truncate(filepath.Join(o.Dir, name), 0) }
}

func mknod(name string, kind uint32) func(order) error {
	return func(o order) error { return unix.Mknod(filepath.Join(o.Dir, name), kind|0o600, int(unix.Mkdev(1, 3))) }
}

func rename(from, to string) func(order) error {
	return func(o order) error { return unix.Rename(filepath.Join(o.Dir, from), filepath.Join(o.Dir, to)) }
}

// ioctl asks a device whether it is a terminal, which it is not.
func ioctl(device string) func(order) error {
	return func(order) error {
		fd, err := unix.Open(device, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if _, err = unix.IoctlGetTermios(fd, unix.TCGETS); err == unix.ENOTTY {
			return nil
		}
		return err
	}
}

func bindTCP(order) error {
	return withSocket(unix.AF_INET, func(fd int) error {
		return unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
	})
}

func connectTCP(o order) error {
	return withSocket(unix.AF_INET, func(fd int) error {
		return unix.Connect(fd, &unix.SockaddrInet4{Port: o.Port, Addr: [4]byte{127, 0, 0, 1}})
	})
}

func connectAbstract(o order) error {
	return withSocket(unix.AF_UNIX, func(fd int) error {
		return unix.Connect(fd, &unix.SockaddrUnix{Name: o.Abstract})
	})
}

func withSocket(family int, use func(fd int) error) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return use(fd)
}

// world makes the files and sockets that the deeds are about.
func world(t *testing.T) order {
	t.Helper()
	o := order{Dir: t.TempDir(), Parent: os.Getpid(), Abstract: fmt.Sprintf("@landlock-test-%d", os.Getpid())}
	for _, name := range []string{"inside", "outside", "readonly"} {
		if err := os.Mkdir(filepath.Join(o.Dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"inside/file", "inside/mine", "outside/file", "outside/spare", "readonly/file", "lone"} {
		if err := os.WriteFile(filepath.Join(o.Dir, name), []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("true")
	if err != nil {
		t.Skipf("there is no program to copy: %v", err)
	}
	for _, name := range []string{"outside/true", "readonly/true"} {
		copyProgram(t, program, filepath.Join(o.Dir, name))
	}
	tcp, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Skipf("no loopback here: %v", err)
	}
	abstract, err := net.Listen("unix", o.Abstract)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tcp.Close(); abstract.Close() })
	o.Port = tcp.Addr().(*net.TCPAddr).Port
	o.Rules = Rules{
		ReadExec:  []string{filepath.Join(o.Dir, "readonly"), "/dev/zero"},
		ReadWrite: []string{filepath.Join(o.Dir, "inside"), filepath.Join(o.Dir, "lone"), "/dev/null"},
		DenyTCP:   true, ScopeSignals: true, ScopeAbstractUnix: true,
	}
	for _, dir := range []string{"/usr", "/lib", "/lib64", "/etc/ld.so.cache"} { // the loader's
		if _, err := os.Stat(dir); err == nil {
			o.Rules.ReadExec = append(o.Rules.ReadExec, dir)
		}
	}
	return o
}

func copyProgram(t *testing.T, from, to string) {
	t.Helper()
	source, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	_, err = io.Copy(target, source)
	if err := errors.Join(err, target.Close()); err != nil {
		t.Fatal(err)
	}
}

// try has a copy of this program do the deeds.
func try(t *testing.T, o order) map[string]syscall.Errno {
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
	cmd.Env = append(os.Environ(), helperEnv+"="+string(text))
	cmd.Stdout, cmd.Stderr = &out, &errout
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, &errout)
	}
	var answers map[string]syscall.Errno
	if err := json.Unmarshal(out.Bytes(), &answers); err != nil {
		t.Fatal(err)
	}
	return answers
}

// TestLive holds every ABI up to this kernel's against the kernel: an older one
// is what a ruleset of that size asks for. Moving between directories is the one
// deed that only the oldest denies.
func TestLive(t *testing.T) {
	newest, err := ABI()
	if err != nil {
		t.Skip(err)
	}
	t.Logf("this kernel has ABI %d", newest)
	for abi := range newest + 1 {
		t.Run(fmt.Sprint(abi), func(t *testing.T) {
			o := world(t)
			o.ABI = abi
			answers := try(t, o)
			for _, d := range deeds {
				want := syscall.Errno(0)
				if abi >= d.denied && (d.errno != unix.EXDEV || abi < abiRefer) {
					want = d.errno
				}
				got := answers[d.name]
				if abi == 0 && d.name == deviceDeed && got == unix.EPERM {
					continue // not root's here, whatever the rules
				}
				if got != want {
					t.Errorf("%s: got %v, want %v", d.name, got, want)
				}
			}
		})
	}
}

// TestLiveNotAsked: what the rules do not ask for is not denied.
func TestLiveNotAsked(t *testing.T) {
	abi, err := ABI()
	if err != nil {
		t.Skip(err)
	}
	o := world(t)
	o.ABI = abi
	o.Rules.DenyTCP, o.Rules.ScopeSignals, o.Rules.ScopeAbstractUnix = false, false, false
	answers := try(t, o)
	for _, name := range []string{"bind TCP", "connect TCP", "connect an abstract socket", "signal the parent"} {
		if errno := answers[name]; errno != 0 {
			t.Errorf("%s: %v", name, errno)
		}
	}
	if answers["read a file outside"] != unix.EACCES {
		t.Error("files outside are open")
	}
}

// TestConstants holds what is written out here against x/sys.
func TestConstants(t *testing.T) {
	tests := []struct{ got, want uint64 }{
		{AccessFSExecute, unix.LANDLOCK_ACCESS_FS_EXECUTE},
		{AccessFSWriteFile, unix.LANDLOCK_ACCESS_FS_WRITE_FILE},
		{AccessFSReadFile, unix.LANDLOCK_ACCESS_FS_READ_FILE},
		{AccessFSReadDir, unix.LANDLOCK_ACCESS_FS_READ_DIR},
		{AccessFSRemoveDir, unix.LANDLOCK_ACCESS_FS_REMOVE_DIR},
		{AccessFSRemoveFile, unix.LANDLOCK_ACCESS_FS_REMOVE_FILE},
		{AccessFSMakeChar, unix.LANDLOCK_ACCESS_FS_MAKE_CHAR},
		{AccessFSMakeDir, unix.LANDLOCK_ACCESS_FS_MAKE_DIR},
		{AccessFSMakeReg, unix.LANDLOCK_ACCESS_FS_MAKE_REG},
		{AccessFSMakeSock, unix.LANDLOCK_ACCESS_FS_MAKE_SOCK},
		{AccessFSMakeFifo, unix.LANDLOCK_ACCESS_FS_MAKE_FIFO},
		{AccessFSMakeBlock, unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK},
		{AccessFSMakeSym, unix.LANDLOCK_ACCESS_FS_MAKE_SYM},
		{AccessFSRefer, unix.LANDLOCK_ACCESS_FS_REFER},
		{AccessFSTruncate, unix.LANDLOCK_ACCESS_FS_TRUNCATE},
		{AccessFSIoctlDev, unix.LANDLOCK_ACCESS_FS_IOCTL_DEV},
		{AccessNetBindTCP, unix.LANDLOCK_ACCESS_NET_BIND_TCP},
		{AccessNetConnectTCP, unix.LANDLOCK_ACCESS_NET_CONNECT_TCP},
		{ScopeAbstractUnixSocket, unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET},
		{ScopeSignal, unix.LANDLOCK_SCOPE_SIGNAL},
		{RulePathBeneath, unix.LANDLOCK_RULE_PATH_BENEATH},
	}
	for i, test := range tests {
		if test.got != test.want {
			t.Errorf("constant %d is %#x, and %#x to the kernel", i, test.got, test.want)
		}
	}
}
