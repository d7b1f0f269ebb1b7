package cgroup

import (
	"bytes"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
)

// View is what the kernel holds a process to, read from the files of its groups and of those above
// them: whoever has made them, and whatever was meant. 0 is no limit.
type View struct {
	MemoryBytes, Processes int64
	CPUs                   float64
}

// ViewOf looks at a process of this host. A group that is not to be seen here, as one outside of our
// cgroup namespace, has no limit in it.
func ViewOf(pid int) (v View, err error) {
	var d detector
	member, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
	if err != nil {
		return v, err
	}
	if d.paths, err = parseMembership(member); err != nil {
		return v, err
	}
	info, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return v, err
	}
	if d.mounts, err = parseMounts(info); err != nil {
		return v, err
	}
	d.upwards(Memory, func(m mount, dir string) {
		file := "memory.max"
		if m.version == 1 {
			file = "memory.limit_in_bytes"
		}
		if n, ok := figure(dir, file); ok && n < noLimit && (v.MemoryBytes == 0 || n < v.MemoryBytes) {
			v.MemoryBytes = n
		}
	})
	d.upwards(PIDs, func(_ mount, dir string) {
		if n, ok := figure(dir, "pids.max"); ok && (v.Processes == 0 || n < v.Processes) {
			v.Processes = n
		}
	})
	d.upwards(CPU, func(m mount, dir string) {
		if c := quota(m, dir); c > 0 && (v.CPUs == 0 || c < v.CPUs) {
			v.CPUs = c
		}
	})
	return v, nil
}

// noLimit is what memory.limit_in_bytes of version 1 says without one, or more than any machine has.
const noLimit = 1 << 60

// upwards shows the groups of a process, from its own upwards, in the tree that limits by a controller.
func (d *detector) upwards(c Controller, show func(m mount, dir string)) {
	for _, m := range d.mounts {
		key := unified
		if m.version == 1 {
			key = string(c)
		}
		at, known := d.paths[key]
		if below, seen := within(at, m.root); known && seen && (m.version == 2 || slices.Contains(m.controllers, key)) {
			for ; below != "/" && below != "."; below = path.Dir(below) {
				show(m, path.Join(m.point, below))
			}
		}
	}
}

func figure(dir, file string) (int64, bool) {
	data, err := os.ReadFile(path.Join(dir, file))
	if err != nil {
		return 0, false
	}
	return parseNumber(data)
}

// quota is how many cores a group has, or 0.
func quota(m mount, dir string) float64 {
	if m.version == 1 {
		q, ok := figure(dir, quotaFile)
		period, known := figure(dir, "cpu.cfs_period_us")
		if !ok || !known || period == 0 {
			return 0
		}
		return float64(q) / float64(period)
	}
	data, err := os.ReadFile(path.Join(dir, "cpu.max"))
	words := bytes.Fields(data)
	if err != nil || len(words) != 2 {
		return 0
	}
	q, err := strconv.ParseFloat(string(words[0]), 64)
	period, err2 := strconv.ParseFloat(string(words[1]), 64)
	if err != nil || err2 != nil || period == 0 {
		return 0
	}
	return q / period
}
