package advisory

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

const (
	smtFile   = "sys/devices/system/cpu/smt/active"
	ksmFile   = "sys/kernel/mm/ksm/run"
	flaws     = "sys/devices/system/cpu/vulnerabilities/"
	swapsHead = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
)

// shut is a host whose files may not be read.
type shut struct{}

func (shut) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

// files is a host with these names and contents; a name that ends with a slash is a
// directory's.
func files(pairs ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(pairs); i += 2 {
		if dir, ok := strings.CutSuffix(pairs[i], "/"); ok {
			tree[dir] = &fstest.MapFile{Mode: fs.ModeDir}
		} else {
			tree[pairs[i]] = &fstest.MapFile{Data: []byte(pairs[i+1])}
		}
	}
	return tree
}

// find is what is said of one setting of a host.
func find(t *testing.T, tree fs.FS, name string) Setting {
	t.Helper()
	all := host{tree}.hardening()
	i := slices.IndexFunc(all, func(s Setting) bool { return s.Name == name })
	if i < 0 {
		t.Fatalf("there is no row %s", name)
	}
	return all[i]
}

// TestHardening: each row by what the files of a host say.
func TestHardening(t *testing.T) {
	disk := swapsHead + "/dev/dm-1                               partition\t999\t\t0\t\t-2\n"
	for _, c := range []struct {
		name   string
		files  []string
		state  string
		detail string // a part of it
		mend   string // a part of it
	}{
		{"smt", []string{smtFile, "0\n"}, Good, "0", ""},
		{"smt", []string{smtFile, "1\n"}, Advice, "1: two programs on one core", "echo off > /sys/devices/system/cpu/smt/control"},
		{"smt", []string{smtFile, "on\n"}, Unknown, `"on"`, ""},
		{"ksm", []string{ksmFile, "0\n"}, Good, "0", ""},
		{"ksm", []string{ksmFile, "1\n"}, Advice, "equal pages", "echo 2 > /sys/kernel/mm/ksm/run"},
		{"ksm", []string{ksmFile, "2\n"}, Good, "2", ""},

		{"cpu_vulnerabilities", []string{flaws + "mds", "Not affected\n", flaws + "meltdown", "Mitigation: PTI\n", flaws + "itlb_multihit", "KVM: Vulnerable\n"}, Good, "mitigated", ""},
		{"cpu_vulnerabilities", []string{flaws + "l1tf", "Vulnerable\n", flaws + "mds", "Vulnerable: no microcode; SMT vulnerable\n", flaws + "srbds", "Unknown: in a machine of others\n"}, Advice, "nothing is done about l1tf, mds:", "mitigations=off"},
		{"cpu_vulnerabilities", []string{flaws + "mds", "Not affected\n", flaws + "srbds", "Unknown: Dependent on hypervisor status\n"}, Unknown, "srbds", ""},
		{"cpu_vulnerabilities", []string{flaws + "mds", ""}, Unknown, "mds", ""},

		{"swap", []string{"proc/swaps", swapsHead}, Good, "none on a disk", ""},
		{"swap", []string{"proc/swaps", swapsHead + "/swapfile file 1 0 -2\n"}, Advice, "unencrypted: /swapfile", "swapoff -a"},
		{"swap", []string{"proc/swaps", disk}, Advice, "/dev/dm-1", "swapoff -a"},
		{"swap", []string{"proc/swaps", disk, "sys/block/dm-1/dm/uuid", "CRYPT-PLAIN-swap\n"}, Good, "none", ""},
		{"swap", []string{"proc/swaps", disk, "sys/block/dm-1/dm/uuid", "LVM-x\n", "sys/block/dm-1/slaves/dm-0/dev", "", "sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-y\n"}, Good, "none", ""},
		{"swap", []string{"proc/swaps", disk, "sys/block/dm-1/dm/uuid", "LVM-x\n", "sys/block/dm-1/slaves/dm-0/dev", "", "sys/block/dm-0/dm/uuid", "CRYPT-LUKS2-y\n", "sys/block/dm-1/slaves/sda2/dev", ""}, Advice, "/dev/dm-1", "swapoff"},
		{"swap", []string{"proc/swaps", disk, "sys/block/dm-1/dm/uuid", "LVM-x\n"}, Advice, "/dev/dm-1", "swapoff"},
		{"swap", []string{"proc/swaps", disk, "sys/block/dm-1/dm/uuid", "LVM-x\n", "sys/block/dm-1/slaves/", ""}, Advice, "/dev/dm-1", "swapoff"},
		{"swap", []string{"proc/swaps", swapsHead + "/dev/zram0 partition 1 0 100\n"}, Good, "none", ""},
		{"swap", []string{"proc/swaps", swapsHead + "/dev/zram0 partition 1 0 100\n", "sys/block/zram0/backing_dev", "none\n"}, Good, "none", ""},
		{"swap", []string{"proc/swaps", swapsHead + "/dev/zram0 partition 1 0 100\n", "sys/block/zram0/backing_dev", "/dev/sda3\n"}, Advice, "/dev/zram0", "swapoff"},
		{"swap", []string{"proc/swaps", ""}, Unknown, `""`, ""},

		{"kernel.core_pattern", []string{"proc/sys/kernel/core_pattern", "core\n"}, Good, "core", ""},
		{"kernel.modprobe", []string{"proc/sys/kernel/osrelease", "6.18.5\n"}, Good, "no modules", ""},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "/sbin/modprobe\n", "proc/sys/kernel/osrelease", "6.13.12-arch1\n"}, Advice, "/sbin/modprobe", "echo > /proc/sys/kernel/modprobe"},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "/sbin/modprobe\n", "proc/sys/kernel/osrelease", "5.15.0-91-generic\n"}, Advice, "/sbin/modprobe", "6.14"},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "/sbin/modprobe\n", "proc/sys/kernel/osrelease", "6.14.0\n"}, Good, "/sbin/modprobe", ""},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "/sbin/modprobe\n", "proc/sys/kernel/osrelease", "7.0.1\n"}, Good, "/sbin/modprobe", ""},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "\n", "proc/sys/kernel/osrelease", "6.1.0-37-amd64\n"}, Good, "none", ""},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "/sbin/modprobe\n", "proc/sys/kernel/osrelease", "new\n"}, Unknown, "no number", ""},
		{"kernel.modprobe", []string{"proc/sys/kernel/modprobe", "/sbin/modprobe\n"}, Unknown, "", ""},
		{"kernel.core_pattern", []string{"proc/sys/kernel/core_pattern", "\n"}, Good, "", ""},
		{"kernel.core_pattern", []string{"proc/sys/kernel/core_pattern", "|/usr/share/apport/apport %p\n"}, Advice, `"|/usr/share/apport/apport %p"`, "sysctl -w kernel.core_pattern=core"},
		{"kernel.core_pattern", []string{"proc/sys/kernel/core_pattern", "@@/run/dumps\n"}, Advice, `no limit`, "sysctl -w kernel.core_pattern=core"},
		{"kernel.core_pattern", []string{"proc/sys/kernel/core_pattern", "@/run/coredump\n"}, Advice, "@/run/coredump", "sysctl -w"},
	} {
		got := find(t, files(c.files...), c.name)
		if got.State != c.state || !strings.Contains(got.Detail, c.detail) || (got.Mend == "") != (c.mend == "") || !strings.Contains(got.Mend, c.mend) {
			t.Errorf("%s with %q: %+v, want %s, %q, %q", c.name, c.files, got, c.state, c.detail, c.mend)
		}
	}
}

// TestSysctls: which numbers are good, of each.
func TestSysctls(t *testing.T) {
	for name, want := range map[string]struct{ good, bad, mend string }{
		"vm.overcommit_memory":             {"0 1", "2", "0"},
		"kernel.io_uring_disabled":         {"1 2", "0 3", "2"},
		"dev.tty.legacy_tiocsti":           {"0", "1", "0"},
		"dev.tty.ldisc_autoload":           {"0", "1", "0"},
		"kernel.unprivileged_bpf_disabled": {"1 2", "0", "1"},
		"kernel.perf_event_paranoid":       {"2 3 4", "-1 0 1", "2"},
		"kernel.yama.ptrace_scope":         {"1 2 3", "0", "1"},
		"kernel.dmesg_restrict":            {"1", "0", "1"},
		"kernel.kptr_restrict":             {"1 2", "0", "1"},
		"fs.protected_symlinks":            {"1", "0", "1"},
		"fs.protected_hardlinks":           {"1", "0", "1"},
		"fs.protected_fifos":               {"1 2", "0", "1"},
		"fs.protected_regular":             {"1 2", "0", "1"},
	} {
		file := "proc/sys/" + strings.ReplaceAll(name, ".", "/")
		for state, values := range map[string]string{Good: want.good, Advice: want.bad, Unknown: "x 1x 0x1 1.0"} {
			for _, value := range strings.Fields(values) {
				got := find(t, files(file, value+"\n"), name)
				mend := map[string]string{Advice: "sysctl -w " + name + "=" + want.mend}[state]
				if got.State != state || got.Mend != mend {
					t.Errorf("%s is %s: %+v, want %s, %q", name, value, got, state, mend)
				}
			}
		}
	}
}

// TestHardeningUnknown: what cannot be read is never good, and never a reason to do
// something.
func TestHardeningUnknown(t *testing.T) {
	for detail, tree := range map[string]fs.FS{
		"not told by this kernel":   fstest.MapFS{},
		"this user may not read it": shut{},
	} {
		all := host{tree}.hardening()
		if len(all) != 6+len(sysctls) {
			t.Errorf("%d rows: %+v", len(all), all)
		}
		for _, s := range all {
			if s.State != Unknown || s.Detail != detail || s.Mend != "" {
				t.Errorf("%+v, want %q", s, detail)
			}
		}
	}
	broken := errors.New("input/output error")
	if got := unknown("smt", broken); got.State != Unknown || got.Detail != broken.Error() {
		t.Errorf("%+v", got)
	}
}
