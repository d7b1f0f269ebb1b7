package oci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// groupName is the name of a container's control group, in every hierarchy.
func groupName(id string) string { return "sandbox-run-" + id }

const groupRoot = "/sys/fs/cgroup"

// setting is one file of a control group and what is written to it.
type setting struct {
	controller, file, value string
	// optional files are left alone where there are none; provisional ones may
	// refuse what a later one lets them take.
	optional, provisional bool
}

// setLimits has the container's control groups hold the limits of the next
// process. The OCI runtime has made them; to ask it for a change would start it
// again, and not every one can.
func (e *engine) setLimits(_ context.Context, l sandbox.Limits) error {
	e.limits = l
	if l.MemoryBytes > 0 {
		l.MemoryBytes += e.left()
	}
	settings := settingsV1(l)
	if unified() {
		settings = settingsV2(l)
	}
	for _, s := range settings {
		dir := filepath.Join(groupRoot, s.controller, groupName(e.b.id))
		if unified() {
			dir = filepath.Join(groupRoot, groupName(e.b.id))
		}
		err := writeFile(filepath.Join(dir, s.file), s.value)
		if err == nil || s.provisional || s.optional && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		return fmt.Errorf("set the limits of the container: %w", err)
	}
	return nil
}

// left is what processes before have left as files in memory, in bytes: the next one
// does not pay for what a compiler has made.
func (e *engine) left() int64 {
	name, field := filepath.Join(groupRoot, "memory", groupName(e.b.id), "memory.stat"), "total_shmem "
	if unified() {
		name, field = filepath.Join(groupRoot, groupName(e.b.id), "memory.stat"), "shmem "
	}
	content, err := os.ReadFile(name)
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
// not fail for what they have left in memory.
func (e *engine) lift() {
	held := e.limits
	_ = e.setLimits(context.Background(), sandbox.Limits{}) // the container may be gone
	e.limits = held
}

// unified tells whether this host has version 2 alone.
func unified() bool {
	_, err := os.Stat(filepath.Join(groupRoot, "cgroup.controllers"))
	return err == nil
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

// period is the period of the CPU quota, in microseconds. With a shorter one a
// program that needs a burst to start waits for most of it.
const period = 1_000_000

// initMemory is what init takes of the container's group, which the programs' limit
// is not to pay for: its pages, what it carries of streams and files, and what the
// kernel has for it, in bytes.
const initMemory = 1 << 20

// settingsV1 are limits for version 1. Memory and swap together are never less than
// memory alone, so that either may have to go first.
func settingsV1(l sandbox.Limits) []setting {
	memory, quota, processes := "-1", "-1", "max"
	if l.MemoryBytes > 0 {
		memory = strconv.FormatInt(l.MemoryBytes+initMemory, 10)
	}
	if l.CPUs > 0 {
		quota = strconv.FormatInt(int64(l.CPUs*period), 10)
	}
	if l.Processes > 0 {
		processes = strconv.FormatInt(l.Processes+1, 10) // init
	}
	const limit, withSwap = "memory.limit_in_bytes", "memory.memsw.limit_in_bytes"
	return []setting{
		{controller: "memory", file: limit, value: memory, provisional: true},
		{controller: "memory", file: withSwap, value: memory, optional: true},
		{controller: "memory", file: limit, value: memory},
		{controller: "cpu", file: "cpu.cfs_quota_us", value: "-1"}, // so that the period may change
		{controller: "cpu", file: "cpu.cfs_period_us", value: strconv.Itoa(period)},
		{controller: "cpu", file: "cpu.cfs_quota_us", value: quota},
		{controller: "pids", file: "pids.max", value: processes},
	}
}

// settingsV2 are limits for version 2.
func settingsV2(l sandbox.Limits) []setting {
	memory, swap, quota, processes := "max", "max", "max", "max"
	if l.MemoryBytes > 0 {
		memory, swap = strconv.FormatInt(l.MemoryBytes+initMemory, 10), "0"
	}
	if l.CPUs > 0 {
		quota = strconv.FormatInt(int64(l.CPUs*period), 10)
	}
	if l.Processes > 0 {
		processes = strconv.FormatInt(l.Processes+1, 10) // init
	}
	return []setting{
		{file: "memory.max", value: memory},
		{file: "memory.swap.max", value: swap, optional: true},
		{file: "cpu.max", value: fmt.Sprintf("%s %d", quota, period)},
		{file: "pids.max", value: processes},
	}
}

// removeGroups removes the control groups that a runtime leaves when it fails
// half-way.
func removeGroups(id string) error {
	var errs []error
	for _, pattern := range []string{groupRoot + "/", groupRoot + "/*/"} {
		dirs, err := filepath.Glob(pattern + groupName(id))
		errs = append(errs, err)
		for _, dir := range dirs {
			if err := os.Remove(dir); !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
