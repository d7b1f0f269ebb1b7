package seccomp

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestLiveProfile: in a container that an OCI runtime has made with the exported
// profile, every number from 0 to 1023 gets the answer of our own table, and so do
// calls at the edges of rules on arguments. What is allowed gets the answer of the
// same container without a profile.
func TestLiveProfile(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes containers with runc")
	}
	arch, err := ArchOf(runtime.GOARCH)
	if err != nil {
		t.Skip(err)
	}
	policy := Default(Options{Inet: true, NoUDP: true, AllowAffinity: true})
	profile, err := Export(policy, arch)
	if err != nil {
		t.Fatal(err)
	}
	in, err := NewInterpreter(policy, arch)
	if err != nil {
		t.Fatal(err)
	}
	calls := append(harmless(), edges()...)
	allowed := slices.Clone(calls) // without a profile, none is made that ours would refuse
	denied := make([]bool, len(calls))
	want := make([]syscall.Errno, len(calls))
	for i, c := range calls {
		var args [6]uint64
		for k, arg := range c.Args {
			args[k] = uint64(arg)
		}
		action, _ := in.Decide(int(c.Number), args)
		errno, fails := action.Errno()
		if denied[i], want[i] = fails, syscall.Errno(errno); fails {
			allowed[i] = rawCall{Number: unix.SYS_GETPID}
		}
	}
	for _, runtime := range []string{"crun", "runc"} {
		t.Run(runtime, func(t *testing.T) {
			program := tool(t, runtime)
			bare := inContainer(t, program, nil, allowed)
			for i, got := range inContainer(t, program, profile, calls) {
				number, want := calls[i].Number, want[i]
				if !denied[i] {
					want = bare[i]
				}
				// A library passes over names that are newer than it is: those look absent.
				const libseccomp25 = 450
				if got != want && (number <= libseccomp25 || got != unix.ENOSYS) {
					t.Errorf("%s(%#x): %v, want %v; denied: %v", arch.Name(int(number)), calls[i].Args, got, want, denied[i])
				}
			}
		})
	}
}

// harmless are all numbers with arguments that nothing can be done with, but for the
// calls that do not come back. To those of probes the kernel applies no filter from
// 6.14 on, and ends whoever makes them.
func harmless() (calls []rawCall) {
	const none = ^uintptr(0)
	without := []uintptr{
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_RT_SIGRETURN, unix.SYS_RESTART_SYSCALL, unix.SYS_CLONE,
	}
	without = append(without, olderCalls()...)
	for number := range uintptr(1024) {
		if !slices.Contains(without, number) {
			calls = append(calls, rawCall{number, [6]uintptr{none, none, none, none, none, none}})
		}
	}
	return calls
}

// edges are calls whose arguments decide.
func edges() (calls []rawCall) {
	const none, high = ^uintptr(0), 1 << 32
	add := func(number uintptr, args ...uintptr) {
		c := rawCall{Number: number, Args: [6]uintptr{none, none, none, none, none, none}}
		copy(c.Args[:], args)
		calls = append(calls, c)
	}
	for family := range uintptr(50) {
		for _, kind := range []uintptr{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET, 10, unix.SOCK_STREAM | unix.SOCK_CLOEXEC} {
			for _, protocol := range []uintptr{0, unix.IPPROTO_TCP, unix.IPPROTO_UDP, 1, 255, 262} {
				add(unix.SYS_SOCKET, family, kind, protocol)
				add(unix.SYS_SOCKET, family|high, kind|high, protocol|high)
			}
		}
	}
	for _, command := range []uintptr{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSTI + 1, unix.TCGETS} {
		add(unix.SYS_IOCTL, none, command)
		add(unix.SYS_IOCTL, none, command|high)
	}
	for _, persona := range []uintptr{0, 8, 0x20000, 0x20008, 0x40000, 0x400000, 9, 0xffffffff} {
		add(unix.SYS_PERSONALITY, persona)
		add(unix.SYS_PERSONALITY, 0)
	}
	for _, flags := range []uintptr{unix.CLONE_NEWUSER, unix.CLONE_NEWNS, unix.CLONE_NEWNET | 17, unix.CLONE_NEWPID | high} {
		add(unix.SYS_CLONE, flags|unix.CLONE_SIGHAND) // which no kernel takes without CLONE_VM
	}
	for _, option := range []uintptr{unix.SO_RCVBUF, unix.SO_SNDBUFFORCE, unix.SO_REUSEADDR, unix.SO_ATTACH_FILTER, unix.SO_ATTACH_REUSEPORT_EBPF} {
		add(unix.SYS_SETSOCKOPT, none, unix.SOL_SOCKET, option)
		add(unix.SYS_SETSOCKOPT, none, unix.SOL_SOCKET|high, option|high)
		add(unix.SYS_SETSOCKOPT, none, unix.IPPROTO_TCP, option)
	}
	for _, mode := range []uintptr{0o100644, 0o010644, 0o020644, 0o060644, 0o020644 | high} {
		add(unix.SYS_MKNODAT, none, none, mode)
	}
	add(unix.SYS_PRCTL, unix.PR_SET_MM)
	add(unix.SYS_PRCTL, unix.PR_SET_MM|high)
	add(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0)
	add(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER)
	return calls
}

// inContainer makes calls in a container of this test's program alone, without
// capabilities, and returns their error numbers.
func inContainer(t *testing.T, program string, profile *Profile, calls []rawCall) []syscall.Errno {
	t.Helper()
	text, err := json.Marshal(order{Calls: calls})
	if err != nil {
		t.Fatal(err)
	}
	bundle := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"rootfs", "rootfs/proc", "rootfs/dev", "state"} {
		if err := os.Mkdir(filepath.Join(bundle, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bundle, "rootfs/test"), content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundle, "rootfs/order"), text, 0o644); err != nil {
		t.Fatal(err)
	}
	type object map[string]any
	linux := object{"namespaces": []object{{"type": "pid"}, {"type": "mount"}, {"type": "network"}, {"type": "ipc"}, {"type": "uts"}}}
	if profile != nil {
		linux["seccomp"] = profile
	}
	none := []string{}
	config, err := json.Marshal(object{
		"ociVersion": "1.0.2",
		"root":       object{"path": "rootfs", "readonly": true},
		"process": object{
			"args": []string{"/test"}, "env": []string{helperEnv + "=@/order"}, "cwd": "/", "user": object{"uid": 0, "gid": 0}, "noNewPrivileges": true,
			"capabilities": object{"bounding": none, "effective": none, "inheritable": none, "permitted": none, "ambient": none},
		},
		"mounts": []object{{"destination": "/proc", "type": "proc", "source": "proc"}, {"destination": "/dev", "type": "tmpfs", "source": "tmpfs"}},
		"linux":  linux,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bundle, "config.json"), config, 0o600); err != nil {
		t.Fatal(err)
	}
	state, id := filepath.Join(bundle, "state"), fmt.Sprintf("seccomp-test-%d", os.Getpid())
	// crun takes a hybrid host for one of version 2, and then finds no controllers.
	const hide = `test ! -d /sys/fs/cgroup/unified || mount -t tmpfs none /sys/fs/cgroup/unified; exec "$@"`
	args := []string{"--mount", "sh", "-c", hide, "sh", program, "--root", state}
	cmd := exec.CommandContext(t.Context(), "unshare", append(slices.Clone(args), "run", "--bundle", bundle, id)...)
	failure := &head{}
	cmd.Stderr = failure
	out, err := cmd.Output()
	_ = exec.Command("unshare", append(args, "delete", "--force", id)...).Run()
	if err != nil {
		if profile == nil {
			t.Skipf("%s makes no container here: %v: %s", program, err, failure)
		}
		t.Fatalf("%s: %v: %s", program, err, failure)
	}
	var results []syscall.Errno
	if err := json.Unmarshal(out, &results); err != nil {
		t.Fatalf("%v: %q %s", err, out, failure)
	}
	return results
}

// head keeps what a runtime complains of first.
type head struct{ text []byte }

func (b *head) Write(p []byte) (int, error) {
	b.text = append(b.text, p...)
	b.text = b.text[:min(len(b.text), 2000)]
	return len(p), nil
}

func (b *head) String() string { return string(b.text) }
