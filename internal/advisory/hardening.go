package advisory

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// What is to be said of a setting of the host.
const (
	Good    = "good"
	Advice  = "advice"
	Unknown = "unknown" // there is no such file, we may not read it, or it says something else
)

// Setting is one of the host's: on it depends what a program finds behind a wall that
// it has got through, or what it can learn in front of it.
type Setting struct {
	// Name is that of a sysctl; or smt, cpu_vulnerabilities, ksm or swap.
	Name  string
	State string // Good, Advice or Unknown
	// Detail is the value if it is good, else why it is not, or is not known.
	Detail string
	// Mend is the command for an advice.
	Mend string
}

// Hardening looks at the settings of this machine.
func Hardening() []Setting { return host{os.DirFS("/")}.hardening() }

func (h host) hardening() []Setting {
	settings := []Setting{h.smt(), h.vulnerabilities(), h.ksm(), h.swap(), h.corePattern(), h.modprobe()}
	for _, s := range sysctls {
		mend := fmt.Sprintf("sysctl -w %s=%d", s.name, s.good[0])
		settings = append(settings, h.number(Setting{s.name, Advice, s.why, mend}, "proc/sys/"+strings.ReplaceAll(s.name, ".", "/"), s.good...))
	}
	return settings
}

// sysctls are the settings that are a number; what they mean is in
// Documentation/admin-guide/sysctl of Linux. The first good one is advised.
var sysctls = []struct {
	name string
	good []int
	why  string // any other is not
}{
	{"vm.overcommit_memory", []int{0, 1}, "what a program asks for and never touches is taken from all of the host, and no limit of memory counts it"},
	{"kernel.io_uring_disabled", []int{2, 1}, "everybody may use io_uring, whose calls no filter sees; only its own filter keeps a program from it"},
	{"dev.tty.legacy_tiocsti", []int{0}, "a process may type for others into a terminal that they share; a program's filter refuses it"},
	{"dev.tty.ldisc_autoload", []int{0}, "everybody may have the kernel load drivers of terminals that nobody uses; only its filter keeps a program from it"},
	{"kernel.unprivileged_bpf_disabled", []int{1, 2}, "everybody may load programs into the kernel; only its filter keeps a program from it"},
	{"kernel.perf_event_paranoid", []int{2, 3, 4}, "everybody may measure the kernel at work; only its filter keeps a program from it"},
	{"kernel.yama.ptrace_scope", []int{1, 2, 3}, "processes of one user may read each other's memory; a program's filter refuses it"},
	{"kernel.dmesg_restrict", []int{1}, "everybody may read the kernel's log, which tells of other runs; only its filter keeps a program from it"},
	{"kernel.kptr_restrict", []int{1, 2}, "files of /proc may tell everybody addresses in the kernel, which an attack on it needs"},
	{"fs.protected_symlinks", []int{1}, "a link that one user leaves in /tmp leads another's programs astray"},
	{"fs.protected_hardlinks", []int{1}, "a user may give names of his own to the files of others, and so keep old ones with a hole"},
	{"fs.protected_fifos", []int{1, 2}, "a pipe that one user leaves in /tmp takes what another writes"},
	{"fs.protected_regular", []int{1, 2}, "a file that one user leaves in /tmp takes what another writes"},
}

func (h host) smt() Setting {
	return h.number(Setting{
		"smt", Advice, "two programs on one core can learn of each other from what they share of it",
		"echo off > /sys/devices/system/cpu/smt/control (or boot with nosmt); it costs the second thread of each core",
	}, "sys/devices/system/cpu/smt/active", 0)
}

func (h host) ksm() Setting {
	return h.number(Setting{
		"ksm", Advice, "equal pages of two programs are made one, and how long a write takes tells so",
		"echo 2 > /sys/kernel/mm/ksm/run",
	}, "sys/kernel/mm/ksm/run", 0, 2)
}

// number judges a file that holds a number: advice is what to say if it is none of the
// good ones.
func (h host) number(advice Setting, file string, good ...int) Setting {
	text, err := fs.ReadFile(h.files, file)
	if err != nil {
		return unknown(advice.Name, err)
	}
	value := strings.TrimSpace(string(text))
	n, err := strconv.Atoi(value)
	switch {
	case err != nil:
		return Setting{Name: advice.Name, State: Unknown, Detail: "it says " + quoted(value)}
	case slices.Contains(good, n):
		return Setting{Name: advice.Name, State: Good, Detail: value}
	}
	advice.Detail = value + ": " + advice.Detail
	return advice
}

// vulnerabilities are those of the processor that the kernel does nothing about
// (Documentation/ABI/testing/sysfs-devices-system-cpu).
func (h host) vulnerabilities() Setting {
	const name, dir = "cpu_vulnerabilities", "sys/devices/system/cpu/vulnerabilities"
	entries, err := fs.ReadDir(h.files, dir)
	if err != nil {
		return unknown(name, err)
	}
	var open, odd []string
	for _, e := range entries {
		text, err := fs.ReadFile(h.files, path.Join(dir, e.Name()))
		word := firstWord().FindString(string(text))
		switch {
		case err != nil || word == "" || word == "Unknown":
			odd = append(odd, e.Name())
		case word == "Vulnerable":
			open = append(open, e.Name())
		}
	}
	switch {
	case len(open) > 0:
		return Setting{name, Advice, "nothing is done about " + strings.Join(open, ", ") + ": a program may read memory that is not its own", "install the newest kernel and the processor's microcode (apt-get install intel-microcode or amd64-microcode), and boot without mitigations=off"}
	case len(odd) > 0 || len(entries) == 0:
		return Setting{Name: name, State: Unknown, Detail: "the kernel cannot tell: " + strings.Join(odd, ", ")}
	}
	return Setting{Name: name, State: Good, Detail: "mitigated, or not affected"}
}

var firstWord = lazyregexp.New(`^\w+`)

// corePattern: what a crash starts is root on the host, and reads what the program has
// left of itself. With "@" it is a socket (Linux 6.16).
func (h host) corePattern() Setting {
	const name = "kernel.core_pattern"
	text, err := fs.ReadFile(h.files, "proc/sys/kernel/core_pattern")
	pattern := strings.TrimSpace(string(text))
	switch {
	case err != nil:
		return unknown(name, err)
	case strings.Index(pattern, "@") == 0: // the kernel looks at no limit then
		return Setting{name, Advice, "a crash sends the program's memory to " + quoted(pattern) + " on the host, and no limit of a program's keeps it from that", "sysctl -w kernel.core_pattern=core"}
	case strings.Index(pattern, "|") == 0:
		return Setting{name, Advice, "a crash is handed to " + quoted(pattern) + ", as root on the host; only its limit of core dumps keeps a program from it", "sysctl -w kernel.core_pattern=core"}
	}
	return Setting{Name: name, State: Good, Detail: pattern}
}

// lastThatAsks is the last kernel that asks modprobe for a module when a program executes
// what is none; fs/exec.c has not done so since 6.14.
var lastThatAsks = [2]int{6, 13}

var release = lazyregexp.New(`^(\d+)\.(\d+)`)

// modprobe: what is executed and is no program starts it on older kernels, as root and in
// nobody's control group.
func (h host) modprobe() Setting {
	const name = "kernel.modprobe"
	version, err := fs.ReadFile(h.files, "proc/sys/kernel/osrelease")
	if err != nil {
		return unknown(name, err)
	}
	text, err := fs.ReadFile(h.files, "proc/sys/kernel/modprobe")
	if errors.Is(err, fs.ErrNotExist) {
		return Setting{Name: name, State: Good, Detail: "this kernel loads no modules"}
	}
	number := release().FindStringSubmatch(string(version))
	if err != nil || number == nil {
		return unknown(name, cmp.Or(err, errors.New("the kernel's release is no number")))
	}
	major, _ := strconv.Atoi(number[1])
	minor, _ := strconv.Atoi(number[2])
	program := strings.TrimSpace(string(text))
	if slices.Compare([]int{major, minor}, lastThatAsks[:]) > 0 || program == "" {
		return Setting{Name: name, State: Good, Detail: cmp.Or(program, "none")}
	}
	return Setting{name, Advice, quoted(program) + " is started, as root and in nobody's limits, when a program executes a file that is none", "boot Linux 6.14 or later; or load what the host needs when it boots, and then: echo > /proc/sys/kernel/modprobe"}
}

// swap looks for places that keep what was in memory, secrets as well, after the power
// is off.
func (h host) swap() Setting {
	text, err := fs.ReadFile(h.files, "proc/swaps")
	if err != nil {
		return unknown("swap", err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if firstWord().FindString(lines[0]) != "Filename" {
		return Setting{Name: "swap", State: Unknown, Detail: "/proc/swaps says " + quoted(lines[0])}
	}
	var plain []string
	for _, line := range lines[1:] {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		if device := path.Base(fields[0]); !h.inMemory(device) && !h.encrypted(device) {
			plain = append(plain, fields[0])
		}
	}
	if len(plain) > 0 {
		return Setting{"swap", Advice, "what is in memory, secrets too, may come to lie on a disk unencrypted: " + strings.Join(plain, ", "), "swapoff -a, and take it out of /etc/fstab (or encrypt it)"}
	}
	return Setting{Name: "swap", State: Good, Detail: "none on a disk unencrypted"}
}

// inMemory tells whether a block device is one of zram's that writes nothing back to a
// disk.
func (h host) inMemory(device string) bool {
	if zram, _ := path.Match("zram*", device); !zram {
		return false
	}
	back, err := fs.ReadFile(h.files, "sys/block/"+device+"/backing_dev")
	return errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(string(back)) == "none"
}

// encrypted tells whether dm-crypt made a block device, or all that it is made of.
func (h host) encrypted(device string) bool {
	id, err := fs.ReadFile(h.files, "sys/block/"+device+"/dm/uuid")
	if err != nil {
		return false
	}
	if _, crypt := strings.CutPrefix(string(id), "CRYPT-"); crypt {
		return true
	}
	below, err := fs.ReadDir(h.files, "sys/block/"+device+"/slaves")
	return err == nil && len(below) > 0 && !slices.ContainsFunc(below, func(e fs.DirEntry) bool { return !h.encrypted(e.Name()) })
}

func unknown(name string, err error) Setting {
	detail := err.Error()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		detail = "not told by this kernel"
	case errors.Is(err, fs.ErrPermission):
		detail = "this user may not read it"
	}
	return Setting{Name: name, State: Unknown, Detail: detail}
}

// quoted shows what somebody else has written, the beginning of it.
func quoted(text string) string { return strconv.Quote(text[:min(len(text), 64)]) }
