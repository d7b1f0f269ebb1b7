package posture_test

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
	"github.com/sandbox-run/sandbox-run/internal/posture"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

func TestPosture(t *testing.T) {
	for name, options := range map[string]local.Options{"": {}, " without control groups": {NoCgroups: true}} {
		rt := opened(t, options)
		for _, level := range []sandbox.Level{sandbox.LevelFull, sandbox.LevelRestricted} {
			t.Run(string(level)+name, func(t *testing.T) {
				p, err := posture.Take(t.Context(), rt, level)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("\n%s", p)
				for _, fault := range p.Faults() {
					t.Error(fault)
				}
				differs(t, p)
			})
		}
	}
}

// At none the calls would be made on this machine: a message queue, which one of them makes, stayed.
func TestNoneIsNotLookedAt(t *testing.T) {
	queues := func() int {
		text, err := os.ReadFile("/proc/sysvipc/msg")
		if err != nil {
			t.Skip(err)
		}
		return strings.Count(string(text), "\n")
	}
	before := queues()
	p, err := posture.Take(t.Context(), opened(t, local.Options{}), sandbox.LevelNone)
	if !errors.Is(err, posture.ErrNone) {
		t.Errorf("%v, %v", p, err)
	}
	if after := queues(); after != before {
		t.Errorf("%d message queues, %d before", after-1, before-1)
	}
}

// opened is a runtime that is closed when the test is over.
func opened(t *testing.T, options local.Options) sandbox.Runtime {
	t.Helper()
	options.RuntimeDir = t.TempDir()
	rt, err := local.New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	})
	return rt
}

// difference is a line with another value, or without one, of a posture that has it.
type difference struct {
	key, value string
	only       sandbox.Level // or both
}

// differs has one line after the other be another one.
func differs(t *testing.T, p *posture.Posture) {
	t.Helper()
	full, restricted := sandbox.LevelFull, sandbox.LevelRestricted
	arch, err := seccomp.ArchOf(runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	call := func(name, args string) string { return fmt.Sprintf("call %d%s", arch.Number(name), args) }
	const allowed, other = "(ffffffffffffffff,ffffffff00005412)", "stream EAFNOSUPPORT, dgram works, raw EAFNOSUPPORT, seqpacket EAFNOSUPPORT, packet EAFNOSUPPORT"
	faults := []difference{
		{"outside", "not seen", ""}, {"descriptors", "1", ""}, {"environment", "PATH TOKEN", ""}, {"process leads", "session false, group true", ""},
		{"status CapEff", "0000000000000001", ""}, {"status CapAmb", "0000000000000001", ""}, {"status CapBnd", "0000000000000001", full},
		{"status NoNewPrivs", "0", ""}, {"status Seccomp", "0", ""}, {"status Uid", "0 0 0 0", full}, {"status Umask", "0000", ""}, {"status Umask", "", ""},
		{"process oom_score_adj", "0", ""}, {"hostname", "build-7", full},
		{"limit core file size", "0 0", ""}, {"limit core file size", "unlimited unlimited", ""}, {"limit locked memory", "65536 unlimited", ""},
		{"limit open files", "1024 1024", ""}, {"limit pending signals", "", ""}, {"limit stack size", "unlimited unlimited", ""}, {"limit file size", "unlimited unlimited", restricted},
		{"mount /tmp", "", full}, {"mount /tmp", "tmpfs nosuid", full}, {"mount /proc", "proc nosuid,nodev", full}, {"mount /", "tmpfs nosuid", full},
		{"namespace net", "ours", full}, {"namespace cgroup", "", full}, {"writes /build", "works", ""}, {"reads /proc/kcore", "works", full}, {"device mem", "works", ""},
		{"socket 2", other, ""}, {"socket 16", "", ""}, {"socket 1", other, ""},
		{call("ptrace", ""), "ESRCH", ""}, {call("mount", ""), "works", ""}, {"call 1000", "EPERM", ""}, {"call 1000", "", ""}, {call("ioctl", allowed), "EBADF", ""}, {call("ioctl", allowed), "", ""},
		{call("read", ""), "works", ""}, {call("read", ""), "ENOSYS", ""}, {call("read", ""), "EPERM", ""}, {call("setrlimit", "(ffffffff00000004)"), "EFAULT", ""},
		{"outside process NoNewPrivs", "0", ""}, {"outside process Seccomp", "0", ""}, {"outside process namespaces of ours", "net", full},
		{"outside process descriptors", "1 /dev/null, 4 anon_inode, 5 pipe", ""}, {"outside process descriptors", "1 /etc/shadow", ""}, {"outside process descriptors", "1 socket", ""},
		{"outside init descriptors", "1 anon_inode, 2 socket", ""}, {"outside init descriptors", "1 /etc/shadow", ""}, {"outside init CapBnd", "as ours", full}, {"outside init namespaces of ours", "cgroup pid time", full},
	}
	if os.Geteuid() == 0 {
		faults = append(faults, []difference{
			{"status CapBnd", "0000000000000001", restricted}, {"outside process CapBnd", "as ours", ""}, {"status Groups", "4 24", ""}, {"status Uid", "0 0 0 0", restricted},
			{"outside process user", "ours", ""}, {"outside process user", "root", ""}, {"outside process group", "root", ""}, {"outside process descriptors", "EACCES", ""}, {"outside process namespaces of ours", "EACCES", full},
			{"outside init user", "root", full}, {"outside init Groups", "4 24", full},
		}...)
	}
	if p.Value("outside memory") == "64 MiB" {
		faults = append(faults, difference{"outside memory", "0 MiB", ""}, difference{"outside memory", "128 MiB", ""}, difference{"outside processes", "0", ""}, difference{"outside processes", "max", ""}, difference{"outside cores", "2", ""})
	}
	for _, d := range faults {
		if d.only == "" || d.only == p.Isolation.Level {
			if found := d.in(p).Faults(); len(found) == 0 {
				t.Errorf("%s is %q, and nothing is wrong", d.key, d.value)
			} else if text := strings.Join(found, "\n"); !strings.Contains(text, d.key) {
				t.Errorf("%s is %q, and something else is wrong: %s", d.key, d.value, text)
			}
		}
	}
	for _, d := range []difference{
		{call("read", ""), "EFAULT", ""}, {call("membarrier", ""), "ENOSYS", ""}, {call("mseal", ""), "ENOSYS", ""}, {call("flock", ""), "EBADF", ""}, {call("epoll_pwait2", ""), "ENOSYS", ""},
		{"limit cpu time", "60 60", ""}, {"limit open files", "32 32", ""}, {"limit locked memory", "0 0", ""}, {"limit processes", "10 10", ""},
		{"outside process descriptors", "1 /dev/null, 2 pipe", ""}, {"outside init descriptors", "1 socket", ""}, {"process oom_score_adj", "1000", ""}, {"process cgroup", "0::/", ""},
		{"mount /opt", "overlay ro,nosuid,nodev", ""}, {"device fuse", "EACCES", ""}, {"reads /sys/kernel", "EACCES", ""},
	} {
		for _, fault := range d.in(p).Faults() {
			t.Errorf("%s is %q: %s", d.key, d.value, fault)
		}
	}
	if p.Value("outside memory") == "64 MiB" { // a container around us may have less
		for _, d := range []difference{{"outside memory", "32 MiB", ""}, {"outside cores", "0.5", ""}, {"outside processes", "8", ""}, {"outside processes", "17", ""}} {
			for _, fault := range d.in(p).Faults() {
				t.Errorf("%s is %q: %s", d.key, d.value, fault)
			}
		}
	}
}

// in is a posture that has the difference.
func (d difference) in(p *posture.Posture) *posture.Posture {
	other := *p
	other.Lines = slices.DeleteFunc(slices.Clone(p.Lines), func(l posture.Line) bool { return l.Key == d.key })
	if d.value != "" {
		other.Lines = append(other.Lines, posture.Line{Key: d.key, Value: d.value})
	}
	return &other
}
