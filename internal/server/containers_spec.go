package server

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// maxMounts is how many a container may have of its near side's choosing.
const maxMounts = 64

// preparation is how many times as long as a compiler the filling of a cache may take.
const preparation = 10

// specify is what a container is made of: what was asked for, within what the
// operator gives, and this host's part of it.
func (h *hosted) specify(asked *tunnel.Spec, root root) (sandbox.Spec, error) {
	spec := asked.Spec()
	spec.Tenant = h.who.Tenant
	if spec.WorkspaceOnDisk {
		return spec, &sandbox.UnsupportedError{What: "a workspace on disk", Reason: "the other server's disk is not for those of its callers"}
	}
	var err error
	if spec.Level, err = h.s.level(spec.Level); err != nil {
		return spec, &sandbox.UnsupportedError{What: "isolation " + string(asked.Level), Reason: err.Error()}
	}
	spec.Network = spec.Network.Normal()
	if err := spec.Network.Validate(); err != nil {
		return spec, err
	}
	if err := h.s.Containers.mayReach(spec.Network); err != nil {
		return spec, plainNetwork(err)
	}
	c := h.s.Containers.Config
	most := max(c.MaxDiskBytes, c.DefaultDiskBytes, c.CompileDiskBytes)
	for _, d := range []sandbox.DiskLimit{spec.Disk, spec.BuildDisk} {
		if d.Bytes < 0 || d.Inodes < 0 || c.MaxDiskBytes > 0 && d.Bytes > most || d.Inodes > max(d.Bytes/bytesPerInode, leastInodes) {
			return spec, &sandbox.UnsupportedError{What: fmt.Sprintf("a disk of %d bytes with %d files", d.Bytes, d.Inodes), Reason: fmt.Sprintf(
				"the other server gives up to %d bytes, and a file for each %d of them", most, bytesPerInode)}
		}
	}
	spec.Mounts, spec.Digest = slices.Clone(root.mounts), root.Digest
	return spec, h.mount(&spec, asked.Mounts, root)
}

const (
	bytesPerInode = 4096
	leastInodes   = 64
)

// plainNetwork is a refusal of a network as the near side's runtime would have it.
func plainNetwork(err error) error {
	var p *api.Problem
	if !errors.As(err, &p) {
		return err
	}
	return &sandbox.NetworkError{Field: "allow", Detail: p.Detail}
}

// mount adds what the near side has mounted: none of it is of its own host.
func (h *hosted) mount(spec *sandbox.Spec, mounts []tunnel.Mount, root root) error {
	if len(mounts) > maxMounts {
		return &sandbox.UnsupportedError{What: fmt.Sprintf("a container with %d mounts", len(mounts)), Reason: fmt.Sprintf("%d are the most", maxMounts)}
	}
	for _, m := range mounts {
		if err := placeable(m.Target, spec.Mounts); err != nil {
			return err
		}
		if m.Overlay && m.Kept == "" {
			return &sandbox.UnsupportedError{What: "a writable " + m.Target, Reason: "nothing is kept for it, and the container has a build directory"}
		}
		made := sandbox.Mount{Target: m.Target, Overlay: m.Overlay}
		if m.Kept != "" {
			dir, release, err := h.s.Containers.Kept.Hold(keyOf(h.who, root.Image, m.Kept))
			if errors.Is(err, kept.ErrNotKept) {
				return &tunnel.Elsewhere{Reason: "it does not keep " + m.Kept + " any more"}
			}
			if err != nil {
				return err
			}
			h.release = append(h.release, release)
			made.Source = dir
		}
		spec.Mounts = append(spec.Mounts, made)
	}
	return nil
}

// placeable refuses a target at which the content that a near side has given could come
// between this host and what it mounts itself: its symbolic links lead anywhere, and a
// container is made with the rights of this server.
func placeable(target string, mounts []sandbox.Mount) error {
	places := []string{"/cache", "/installer", "/mnt", path.Dir(language.SelfPath), "/packages"}
	allowed := slices.ContainsFunc(places, func(place string) bool {
		_, below := strings.CutPrefix(target, place+"/")
		return below || target == place
	})
	if !allowed || path.Clean(target) != target {
		return &sandbox.UnsupportedError{What: fmt.Sprintf("a mount at %.100q", target), Reason: "the other server takes them at and below " + strings.Join(places, ", ")}
	}
	for _, m := range mounts {
		if sandbox.Overlap(target, m.Place()) {
			return &sandbox.UnsupportedError{What: fmt.Sprintf("a mount at %.100q", target), Reason: fmt.Sprintf("there is one at %.100q", m.Place())}
		}
	}
	return nil
}

// usualMemory is what a container takes until a program of it asks for more.
func (s *Server) usualMemory(spec sandbox.Spec) int64 {
	c := s.Containers.Config
	if spec.BuildDisk.Bytes > 0 {
		return max(c.Defaults.MemoryBytes, c.Compile.MemoryBytes)
	}
	return c.Defaults.MemoryBytes
}

// longest is how long a program may take: what it is for is not known here.
func (c *Containers) longest() time.Duration {
	o := c.Config
	return max(o.Ceilings.WallTime, preparation*o.Compile.WallTime, o.InstallTimeout, o.Defaults.WallTime)
}

// limit holds a program to what the operator gives. What was not asked for by name
// is lowered, and memory and time are not: a verdict would name another limit.
func (s *Server) limit(l sandbox.Limits) (sandbox.Limits, error) {
	if err := l.Validate(); err != nil {
		return l, err
	}
	c, wall := s.Containers.Config, s.Containers.longest()
	memory := max(c.Ceilings.MemoryBytes, c.Compile.MemoryBytes, c.Defaults.MemoryBytes)
	if c.Ceilings.MemoryBytes == 0 {
		memory = 0
	}
	named := func(name string) bool { return slices.Contains(l.Strict, name) }
	over := func(what, most string) error {
		return &sandbox.UnsupportedError{What: what, Reason: "the other server gives up to " + most}
	}
	l.WallTime = orDefault(l.WallTime, wall)
	l.MemoryBytes = orDefault(l.MemoryBytes, c.Defaults.MemoryBytes)
	l.CPUs = orDefault(l.CPUs, c.Defaults.CPUs)
	l.Processes = orDefault(l.Processes, c.Defaults.Processes)
	l.OpenFiles = orDefault(l.OpenFiles, c.Defaults.OpenFiles)
	if l.WallTime > wall {
		return l, over(fmt.Sprintf("a program of %v", l.WallTime), wall.String())
	}
	if memory > 0 && l.MemoryBytes > memory {
		return l, over(fmt.Sprintf("%d MiB of memory", l.MemoryBytes>>20), fmt.Sprintf("%d MiB", memory>>20))
	}
	var ok [3]bool
	l.CPUs, ok[0] = lowered(l.CPUs, max(c.Ceilings.CPUs, c.Compile.CPUs), c.Ceilings.CPUs > 0, named(sandbox.LimitCPUs))
	l.Processes, ok[1] = lowered(l.Processes, max(c.Ceilings.Processes, c.Compile.Processes), c.Ceilings.Processes > 0, named(sandbox.LimitProcesses))
	l.OpenFiles, ok[2] = lowered(l.OpenFiles, max(c.Ceilings.OpenFiles, c.Compile.OpenFiles), c.Ceilings.OpenFiles > 0, named(sandbox.LimitOpenFiles))
	for i, what := range []string{"so many CPUs", "so many processes", "so many open files"} {
		if !ok[i] {
			return l, over(what, "fewer")
		}
	}
	return l, nil
}

func orDefault[T int64 | float64 | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}

// lowered is a value below a ceiling; it is false for one that was asked for by name.
func lowered[T int64 | float64](value, most T, bounded, named bool) (T, bool) {
	if !bounded || value <= most {
		return value, true
	}
	return most, !named
}
