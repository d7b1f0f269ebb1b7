package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// The world inside, the same in every runtime.
const (
	// WorkspaceDir is the working directory and HOME of every program.
	WorkspaceDir = "/workspace"
	// BuildDir is where compilers put what they make. It has its own size
	// limit and is read-only in the run phase where the runtime can hold that.
	BuildDir = "/build"
	// TempDir is TMPDIR.
	TempDir = "/tmp"
	// UserName is the name of the user and group that programs run as.
	UserName = "sandbox"
	// UserID is the number of that user and group as the program sees it.
	UserID = 1000
	// Hostname is the host name inside.
	Hostname = "sandbox"
)

// Level is an isolation level: which walls stand. Limits are another axis.
type Level string

// The isolation levels.
const (
	// LevelAuto is the strongest level that works on this host; never none.
	LevelAuto Level = "auto"
	// LevelFull has every wall: namespaces, own root, seccomp, Landlock.
	LevelFull Level = "full"
	// LevelRestricted is for hosts that refuse namespaces: Landlock, seccomp,
	// resource limits.
	LevelRestricted Level = "restricted"
	// LevelNone is a bare subprocess. Only by name.
	LevelNone Level = "none"
)

// Spec says what a container is made of.
type Spec struct {
	// Level is the demanded isolation; a level demanded by name is never
	// weakened. Empty means [LevelAuto].
	Level Level
	// Mounts are what the root holds beside the synthetic system directories.
	Mounts []Mount
	// Network is what the processes may reach, as far as [Process.Network] does not
	// say less. A container whose network leads nowhere has no way out for any of
	// them.
	Network NetworkPolicy
	// Disk limits the bytes and files of the workspace, /tmp and /dev/shm
	// together.
	Disk DiskLimit
	// BuildDisk limits [BuildDir]; zero means that there is none.
	BuildDisk DiskLimit
	// Image is the root file system by name; empty means the host's toolchains, or,
	// in a runtime that has none of them, its image for the language.
	Image string
	// Digest is that of the image as [Runtime.Image] told it: the container is made of
	// that one, whatever its name means by now, or not at all. Empty means the name.
	Digest string
	// NoFetch leaves an image that is not here where it is: that is an error then.
	NoFetch bool
	// Language is what the container is for, and Version which one of it; a runtime
	// that has more than one image chooses by them. They may be empty.
	Language, Version string
	// MemoryBytes is the most that a process of the container will be given, as far as it is
	// known when the container is made; who shares out a machine sets it aside. Zero is not known.
	MemoryBytes int64
	// WorkspaceOnDisk keeps the workspace on disk instead of in memory, with
	// the same limits.
	WorkspaceOnDisk bool
	// Tenant is whom the container is for. Where the kernel can do it (the
	// mechanism limit:cpu is enforced), busy cores are divided between tenants
	// and not between their containers. Empty is a tenant of its own.
	Tenant string
	// Recycle, if not empty, names those whose containers may have one after the other what
	// nothing is left in that a program could find: a network namespace. Others make all anew.
	Recycle string
}

// Validate refuses a spec that cannot be meant in any runtime. Its network has its mode
// filled in ([NetworkPolicy.Normal]); what is wrong with that is a [*NetworkError].
func (s Spec) Validate() error {
	levels := []Level{"", LevelAuto, LevelFull, LevelRestricted, LevelNone}
	switch {
	case !slices.Contains(levels, s.Level):
		return fmt.Errorf("unknown isolation level %q: auto, full, restricted or none", s.Level)
	case s.Disk.Bytes <= 0 || s.Disk.Inodes <= 0 || s.BuildDisk.Bytes < 0 || s.BuildDisk.Bytes > 0 && s.BuildDisk.Inodes <= 0:
		return errors.New("a container needs a disk limit")
	}
	if err := s.checkMounts(); err != nil {
		return err
	}
	return s.Network.Validate()
}

// checkMounts refuses mounts at names that runtimes have for themselves, in trees that a
// program writes, and where one of them could put a symbolic link in the way of another:
// what follows it would do so with the rights of whoever makes the container.
func (s Spec) checkMounts() error {
	for i, m := range s.Mounts {
		if err := m.checkPlace(); err != nil {
			return err
		}
		if !m.Overlay {
			continue
		}
		if s.BuildDisk.Bytes <= 0 {
			return fmt.Errorf("%.100q is no place for a mount with a writable layer: the container has no build disk for it", m.Place())
		}
		for k, other := range s.Mounts {
			if i != k && Overlap(m.Place(), other.Place()) {
				return fmt.Errorf("%.100q is no place for a mount: %.100q is one that programs write", other.Place(), m.Place())
			}
		}
	}
	return nil
}

func (m Mount) checkPlace() error {
	place := m.Place()
	if !path.IsAbs(place) || path.Clean(place) != place || place == "/" || place[1] == '.' {
		return fmt.Errorf("%.100q is no place for a mount", place)
	}
	if hides := m.Source == "" && m.Kept == "" && !m.Overlay; hides || place == m.Source {
		return nil
	}
	for _, own := range []string{WorkspaceDir, BuildDir, TempDir, "/dev", "/proc", "/sys"} {
		if Overlap(place, own) {
			return fmt.Errorf("%.100q is no place for a mount: a container has a %s of its own", place, own)
		}
	}
	return nil
}

// Overlap tells whether two clean paths are the same, or one lies below the other.
func Overlap(a, b string) bool {
	_, below := strings.CutPrefix(a, strings.TrimSuffix(b, "/")+"/")
	_, above := strings.CutPrefix(b, strings.TrimSuffix(a, "/")+"/")
	return a == b || below || above
}

// DiskLimit bounds a file tree. Where a tree exists both must be positive: zero
// is an error, never unlimited.
type DiskLimit struct {
	Bytes  int64
	Inodes int64
}

// Mount is one host directory or file in the container.
type Mount struct {
	// Source is an absolute host path, which no program changes. An empty one means an
	// empty directory, or what the runtime keeps under the name Kept (see [Keeper]).
	Source string
	Kept   string
	// Target is an absolute path in the container; empty means Source.
	Target string
	// Overlay gives the mount, which is read-only otherwise, a private writable layer
	// inside the container's build disk, which goes with the container.
	Overlay bool
	// OverlayOptional spares that layer where there are no mounts, so that it would be a tree of
	// links: there may be the source, read-only, and a program has to look before it writes.
	OverlayOptional bool
	// Optional mounts are left out when the source does not exist.
	Optional bool
}

// Place is where the container has the mount.
func (m Mount) Place() string { return cmp.Or(m.Target, m.Source) }

// Process is one program to run in a container.
type Process struct {
	// Args is the program and its arguments. A program without a slash is
	// looked up in PATH of Env, inside the container.
	Args []string
	// Env is the whole environment, K=V.
	Env []string
	// Dir is the working directory; empty means [WorkspaceDir].
	Dir string
	// Stdin is read by the program. Nil means empty. An *os.File is handed
	// over as it is.
	Stdin io.Reader
	// Stdout and Stderr receive the output as it is written; a writer that
	// blocks slows the program down, one that fails ends the run and its error
	// is in [Exit]. Each is called from one goroutine. Nil discards.
	Stdout, Stderr io.Writer
	// TTY gives the program a terminal of this size; Stderr is then unused.
	TTY *TTY
	// Limits bind this process and all that it starts.
	Limits Limits
	// Network, if not nil, takes the place of the container's policy for this
	// process. It must not open what that one keeps closed.
	Network *NetworkPolicy
	// TraceDenied has [Exit.Violations] name the system calls that were denied, in a
	// runtime that is a [DenialTracer]; others know nothing of it.
	TraceDenied bool
	// ReadOnly are paths that this process must not write although the
	// container holds them writable, such as [BuildDir] in the run phase.
	ReadOnly []string
	// Awake, if not nil, is closed when there is something to watch: before that the
	// program runs nothing but what the toolchain brings, and waits.
	Awake <-chan struct{}
	// Calm tells a runtime that nobody waits for this process: it may do before its work what takes
	// more than it spares, but nobody's time.
	Calm bool
	// Work is what a program is told that was started ahead to be this process; see
	// [Ahead]. Nil is a process that none can be.
	Work *Work
}

// MayWrite tells whether the process may write to a path that the container holds writable.
func (p Process) MayWrite(path string) bool { return !slices.Contains(p.ReadOnly, path) }

// TTY asks for a terminal.
type TTY struct{ Rows, Cols uint16 }

// Exit is how a process ended: what the kernel said and no verdict.
type Exit struct {
	// Code is the exit code, or 128+n when signal n ended it.
	Code int
	// Signal is the number of the signal that ended it, or 0.
	Signal int
	// OOMKills counts the kernel's out-of-memory kills for this process tree
	// at its own limit. HostOOM means that the host, not the limit, ran out.
	OOMKills int64
	HostOOM  bool
	// MemoryKill is set when our own sampler killed the tree for its memory.
	MemoryKill bool
	// DiskKill is set when our own sampler ended the tree for its files.
	DiskKill bool
	// ProcessDenials counts forks that the process limit refused.
	ProcessDenials int64
	// WriteError is the error of Stdout or Stderr that ended the run.
	WriteError error
	// Disk is how full the container's disk was at the end, and BuildDisk the
	// same for [BuildDir].
	Disk, BuildDisk DiskUsage
	// Duration is the wall clock from start to end of the main process, which was at
	// Ended, if that is known.
	Duration time.Duration
	Ended    time.Time
	// Ahead is set when the program had been started ahead: its clocks began when it was
	// told its work.
	Ahead   bool
	Metrics Metrics
	// Violations are what the network or call policy denied, with the rule.
	Violations []string
	// Network is what it did with a network that leads out.
	Network NetworkUse
}
