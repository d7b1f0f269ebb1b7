package oci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/guest"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// groupName is the name of a container's control group, in every hierarchy.
func groupName(id string) string { return "sandbox-run-" + id }

const groupRoot = "/sys/fs/cgroup"

// setting is one file of a control group and what is written to it.
type setting struct {
	file, value string
	// optional files are left alone where there are none; provisional ones may
	// refuse what a later one lets them take.
	optional, provisional bool
}

// setLimits has the container's control groups hold the limits of the next
// process. The OCI runtime has made them; to ask it for a change would start it
// again, and not every one can.
func (e *engine) setLimits(_ context.Context, l sandbox.Limits) error {
	e.limits.Store(&limits{Limits: l, before: e.b.host.oomKills()})
	return e.hold(l)
}

// hold writes limits to the container's control groups.
func (e *engine) hold(l sandbox.Limits) error {
	e.setPriority(0)
	if l.MemoryBytes > 0 {
		l.MemoryBytes += e.left()
	}
	settings := settingsV1(l)
	if e.b.host.unified {
		settings = settingsV2(l)
	}
	for _, s := range settings {
		err := writeFile(e.b.groupFile(s.file), s.value)
		if err == nil || s.provisional || s.optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if s.file == cpuQuotaV1 && cgroup.TighterAbove(err, e.writeQuotaV1) {
			continue
		}
		return fmt.Errorf("set the limits of the container: %w", err)
	}
	return nil
}

func (e *engine) writeQuotaV1(quota string) error {
	return writeFile(e.b.groupFile(cpuQuotaV1), quota)
}

// left is what processes before have left as files in memory, in bytes: the next one
// does not pay for what a compiler has made.
func (e *engine) left() int64 {
	name, field := "memory/memory.stat", "total_shmem "
	if e.b.host.unified {
		name, field = "memory.stat", "shmem "
	}
	content, err := os.ReadFile(e.b.groupFile(name))
	if err != nil {
		return 0 // the limit is then for all of it
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, field); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
			if err == nil {
				return n
			}
		}
	}
	return 0
}

// lift takes the limits away: what init does for us, when the programs are dead, must
// not fail for what they have left in memory. If it has ended, it was while they held.
func (e *engine) lift() {
	_ = e.hold(sandbox.Limits{}) // the container may be gone
}

// hurry takes the CPU limit away, until [engine.setLimits] brings the next one: those
// who are killed need time to die, hundreds of them more than a small limit gives. Init,
// who kills, goes before them all.
func (e *engine) hurry() {
	e.setPriority(-20)
	file, value := cpuQuotaV1, cgroup.NoQuota
	if e.b.host.unified {
		file, value = "cpu.max", "max"
	}
	_ = writeFile(e.b.groupFile(file), value) // the container may be gone
}

// setPriority sets that of init, which its children inherit.
func (e *engine) setPriority(nice int) {
	if e.init > 0 {
		_ = unix.Setpriority(unix.PRIO_PROCESS, e.init, nice) // it may be gone
	}
}

// onlyProcess is init, as this machine numbers it, while nothing else runs in the
// container; 0 if that cannot be told.
func (b *bundle) onlyProcess() int {
	file := "pids/cgroup.procs"
	if b.host.unified {
		file = "cgroup.procs"
	}
	contents, err := b.readGroups([]string{file})
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(contents[0]))
	if err != nil {
		return 0
	}
	return pid
}

// host is what this machine's control groups are.
type host struct {
	unified bool // version 2 alone
	hybrid  bool // version 2 beside version 1, which has the controllers
	root    fs.FS
}

func lookAtHost() host {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(groupRoot, name))
		return err == nil
	}
	return host{unified: there("cgroup.controllers"), hybrid: there("unified/cgroup.controllers"), root: os.DirFS("/")}
}

// unknown is a count that this kernel does not have.
const unknown = -1

// oomKills is how many processes of this machine the kernel has killed for want of memory
// since it was booted, whoever ran out.
func (h host) oomKills() int64 {
	content, err := fs.ReadFile(h.root, "proc/vmstat")
	if err != nil {
		return unknown
	}
	for line := range strings.Lines(string(content)) {
		if rest, ok := strings.CutPrefix(line, "oom_kill "); ok {
			if n, err := strconv.ParseInt(strings.TrimSpace(rest), 10, 64); err == nil && n >= 0 {
				return n
			}
		}
	}
	return unknown
}

// groupFile is a file of the container's control groups: with version 1 it is named
// behind its controller, such as memory/memory.stat.
func (b *bundle) groupFile(name string) string {
	controller, file := path.Split(name)
	return filepath.Join(groupRoot, controller, groupName(b.id), file)
}

// readGroups reads such files.
func (b *bundle) readGroups(names []string) (contents []string, err error) {
	for _, name := range names {
		content, err := os.ReadFile(b.groupFile(name))
		if err != nil {
			return nil, err
		}
		contents = append(contents, string(content))
	}
	return contents, nil
}

// writeFile writes to a file that is there.
func writeFile(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// cpuQuotaV1 is the CPU limit of version 1.
const cpuQuotaV1 = "cpu/cpu.cfs_quota_us"

// settingsV1 are limits for version 1. Memory and swap together are never less than
// memory alone, so that either may have to go first.
func settingsV1(l sandbox.Limits) []setting {
	memory, quota, processes := "-1", cgroup.NoQuota, "max"
	if l.MemoryBytes > 0 {
		memory = strconv.FormatInt(l.MemoryBytes+guest.InitMemory, 10)
	}
	if l.CPUs > 0 {
		quota = strconv.FormatInt(int64(l.CPUs*cgroup.CPUPeriodUS), 10)
	}
	if l.Processes > 0 {
		processes = strconv.FormatInt(l.Processes+1, 10) // init
	}
	const limit, withSwap = "memory/memory.limit_in_bytes", "memory/memory.memsw.limit_in_bytes"
	return []setting{
		// Where memory.memsw is missing this is all that keeps the group from swapping; where
		// it is there, nothing depends on it.
		{file: swappinessV1, value: "0", optional: true},
		{file: limit, value: memory, provisional: true},
		{file: withSwap, value: memory, optional: true},
		{file: limit, value: memory},
		{file: cpuQuotaV1, value: cgroup.NoQuota}, // so that the period may change
		{file: "cpu/cpu.cfs_period_us", value: strconv.Itoa(cgroup.CPUPeriodUS)},
		{file: cpuQuotaV1, value: quota},
		{file: "pids/pids.max", value: processes},
	}
}

// settingsV2 are limits for version 2.
func settingsV2(l sandbox.Limits) []setting {
	memory, swap, quota, processes := "max", "max", "max", "max"
	if l.MemoryBytes > 0 {
		memory, swap = strconv.FormatInt(l.MemoryBytes+guest.InitMemory, 10), "0"
	}
	if l.CPUs > 0 {
		quota = strconv.FormatInt(int64(l.CPUs*cgroup.CPUPeriodUS), 10)
	}
	if l.Processes > 0 {
		processes = strconv.FormatInt(l.Processes+1, 10) // init
	}
	return []setting{
		{file: "memory.max", value: memory},
		{file: "memory.swap.max", value: swap, optional: true},
		{file: "cpu.max", value: fmt.Sprintf("%s %d", quota, cgroup.CPUPeriodUS)},
		{file: "pids.max", value: processes},
	}
}

// dyingTimeout is how long what was killed may take to die.
const dyingTimeout = 2 * time.Second

// removeGroups removes the control groups that a runtime leaves when it fails
// half-way. Those who were killed in them may not be quite dead.
func removeGroups(id string) error {
	deadline := time.Now().Add(dyingTimeout)
	var errs []error
	for _, pattern := range []string{groupRoot + "/", groupRoot + "/*/"} {
		dirs, err := filepath.Glob(pattern + groupName(id))
		errs = append(errs, err)
		for _, dir := range dirs {
			err := os.Remove(dir)
			for errors.Is(err, unix.EBUSY) && time.Now().Before(deadline) {
				<-time.After(5 * time.Millisecond)
				err = os.Remove(dir)
			}
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
