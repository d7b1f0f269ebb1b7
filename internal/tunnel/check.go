package tunnel

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// check refuses figures that cannot be, and makes the words of an answer harmless: a
// far side may lie, and what it says is counted with and shown.
func (a Answer) check() error {
	err := errors.Join(a.checkExit(), checkMetrics(a.Metrics), checkUsage(a.Usage))
	if a.File != nil {
		err = errors.Join(err, a.File.check())
	}
	if a.Created != nil {
		err = errors.Join(err, CheckIsolation(&a.Created.Isolation))
	}
	if err != nil {
		return malformed(err)
	}
	return nil
}

func (a Answer) checkExit() error {
	e := a.Exit
	if e == nil {
		return nil
	}
	e.WriteError = nil // is the near side's to say
	e.Violations, e.Network.Queries, e.Network.Failures = cleaned(e.Violations), cleaned(e.Network.Queries), cleaned(e.Network.Failures)
	for _, n := range []int64{int64(e.Signal), e.OOMKills, e.ProcessDenials, int64(e.Duration), e.Network.Connections, e.Network.BytesSent, e.Network.BytesReceived} {
		if n < 0 {
			return fmt.Errorf("a program ended with a figure of %d", n)
		}
	}
	if e.Code < 0 || e.Code > 255 || e.Signal > 64 {
		return fmt.Errorf("a program ended with the code %d and the signal %d", e.Code, e.Signal)
	}
	return errors.Join(checkUsage(&e.Disk), checkUsage(&e.BuildDisk), checkMetrics(&e.Metrics))
}

func checkUsage(u *sandbox.DiskUsage) error {
	if u != nil && min(u.BytesUsed, u.BytesTotal, u.InodesUsed, u.InodesTotal, u.BlockBytes) < 0 {
		return fmt.Errorf("a disk is %d of %d bytes full", u.BytesUsed, u.BytesTotal)
	}
	return nil
}

func checkMetrics(m *sandbox.Metrics) error {
	if m == nil {
		return nil
	}
	if m.CPUUser != nil && *m.CPUUser < 0 || m.CPUSystem != nil && *m.CPUSystem < 0 {
		return errors.New("CPU time is negative")
	}
	for _, n := range []*int64{m.MemoryPeakBytes, m.MemoryBytes, m.IOReadBytes, m.IOWriteBytes, m.ProcessesPeak, m.Processes, m.PageFaults, m.ContextSwitches} {
		if n != nil && *n < 0 {
			return fmt.Errorf("a figure of a process is %d", *n)
		}
	}
	m.Sources = cleanedMap(m.Sources)
	return nil
}

func (f FileInfo) check() error {
	if f.Size < 0 {
		return fmt.Errorf("a file of %d bytes", f.Size)
	}
	return nil
}

// Info is the name of a tree that it describes.
func (f FileInfo) Info() (sandbox.FileInfo, error) {
	name := string(f.Path)
	if err := f.check(); err != nil {
		return sandbox.FileInfo{}, malformed(err)
	}
	if !filepath.IsLocal(name) || name == "." || filepath.ToSlash(filepath.Clean(name)) != name || f.Mode&^(fs.ModeType|fs.ModePerm|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky) != 0 {
		return sandbox.FileInfo{}, malformed(fmt.Errorf("a file of the name %.100q", name))
	}
	return sandbox.FileInfo{Path: name, Size: f.Size, Mode: f.Mode, ModTime: f.ModTime, Inode: f.Inode, Links: f.Links}, nil
}

// states are what a wall or a limit may be.
func states(state string) bool {
	switch state {
	case api.Enforced, api.Degraded, api.Sampled, api.Absent:
		return true
	}
	return false
}

// CheckIsolation holds what a far side says of its walls to the words that there are.
func CheckIsolation(i *sandbox.Isolation) error {
	switch i.Level {
	case sandbox.LevelFull, sandbox.LevelRestricted, sandbox.LevelNone:
	default:
		return fmt.Errorf("a container has the isolation %.40q", string(i.Level))
	}
	if i.LeastMemoryBytes < 0 {
		return fmt.Errorf("a container has %d bytes of memory", i.LeastMemoryBytes)
	}
	for _, all := range []map[string]string{i.Mechanisms, i.Limits} {
		for name, state := range all {
			if !states(state) {
				return fmt.Errorf("%.40q is %.40q", name, state)
			}
		}
	}
	i.Mechanisms, i.Limits, i.Warnings = cleanedMap(i.Mechanisms), cleanedMap(i.Limits), cleaned(i.Warnings)
	return nil
}

// CheckCapabilities is the same for what a server can do.
func CheckCapabilities(c *sandbox.Capabilities) error {
	for _, level := range c.Levels {
		switch level {
		case sandbox.LevelFull, sandbox.LevelRestricted, sandbox.LevelNone:
		default:
			return fmt.Errorf("it has the isolation %.40q", string(level))
		}
	}
	for i, m := range c.Mechanisms {
		if !states(m.State) {
			return fmt.Errorf("%.40q is %.40q", m.Name, m.State)
		}
		c.Mechanisms[i] = sandbox.Mechanism{Name: Clean(m.Name), State: m.State, Detail: Clean(m.Detail), Mend: Clean(m.Mend)}
	}
	return nil
}

func cleaned(all []string) []string {
	for i := range all {
		all[i] = Clean(all[i])
	}
	return all
}

func cleanedMap(all map[string]string) map[string]string {
	out := make(map[string]string, len(all))
	for name, value := range all {
		out[Clean(name)] = Clean(value)
	}
	return out
}
