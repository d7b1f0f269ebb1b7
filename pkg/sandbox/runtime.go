package sandbox

import (
	"context"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Runtime is one isolation technology. It is safe for concurrent use.
type Runtime interface {
	// Name is the word that users select it by: local, docker, oci, e2b, remote.
	Name() string
	// Probe reports what this runtime can enforce on this host. The first call
	// may be slow, later ones answer from memory.
	Probe(ctx context.Context) (Capabilities, error)
	// Image tells which image a container of spec has for its root, and gets it
	// first where that is needed, which may be slow. The zero Image means the
	// toolchains of this host. What is wrong with the image is an [*ImageError].
	Image(ctx context.Context, spec Spec) (Image, error)
	// Create makes a container that is ready to start processes. It fails
	// without leaving anything behind, with an [UnsupportedError] when the spec
	// demands what the host cannot do.
	Create(ctx context.Context, spec Spec) (Container, error)
	// Close deletes every container that is still alive and frees the runtime.
	Close() error
}

// Container is a place to run processes in: its own root, its own processes,
// its own network. It is safe for concurrent use.
type Container interface {
	ID() string
	// Isolation tells which level and mechanisms are in force.
	Isolation() Isolation
	// Files gives access to the file tree under dir: [WorkspaceDir] or [BuildDir].
	Files(dir string) (FileTree, error)
	// Start starts a process. One process runs at a time; when it has ended,
	// everything that it left running is killed before the next may start.
	Start(ctx context.Context, p Process) (Running, error)
	// Delete kills what runs, removes the container and everything that it
	// held, and returns when nothing is left. It may be called at any time and
	// more than once.
	Delete(ctx context.Context) error
}

// Living is a [Container] that can tell whether it is still of use, as far as is known: one that
// waits may end meanwhile.
type Living interface {
	Alive() bool
}

// Expecter is a [Container] that can make ahead what its next process needs.
type Expecter interface {
	// Expect says what is known of the process that will most probably be started: its
	// limits, its network, what it may only read. Another is started all the same.
	Expect(ctx context.Context, p Process) error
}

// Ancestral is a [Container] in which an interpreter can wait that forks itself into other
// containers of the same tenant.
type Ancestral interface {
	// Ancestor starts a process that becomes an [Ancestor]. It fails where a child of it could
	// not be as well enclosed as any process, or where others may change the interpreter than
	// those who are trusted with what it takes.
	Ancestor(ctx context.Context, p Process, from Ancestry) (Ancestor, error)
}

// Ancestry tells how a process may become an [Ancestor].
type Ancestry struct {
	// Library is where in the workspace it looks, when it has come as far as it does without
	// its work, for the library that makes it one.
	Library string
	// Code are directories of the host's with what it runs until then. Some may not be there.
	Code []string
	// ByName tells that it knows its place by the name that it is started by, which must be no link.
	ByName bool
	// HasRings tells that where it may it makes rings for itself (io_uring), as it may not in a sandbox:
	// they would be in common to all of its children.
	HasRings bool
	// Rehearsal are files of the workspace: a program that does what every program does, and
	// no more ([Rehearsing]).
	Rehearsal map[string][]byte
}

// Ancestor is an interpreter that waits to be forked. It never runs a program.
type Ancestor interface {
	// Start starts a process in a new container, a copy of the ancestor that everything
	// stands around which p asks for, with three streams. It goes on from where the ancestor
	// waits. Where many wait for that it fails soon, with [ErrAncestorBusy]; after any other
	// failure the container is good for Delete alone.
	Start(ctx context.Context, c Container, p Process) (Running, error)
	// Close ends the ancestor. What it has started goes on.
	Close() error
}

// Rehearsing is an [Ancestor] that learns from one child what all of them do.
type Rehearsing interface {
	// Rehearse looks on while a child, which waits, runs a program that is nobody's. It calls
	// begin once it does, and returns when the child ends. What comes after is the quicker for it.
	Rehearse(child Running, begin func()) error
}

// expect has a container make ahead what it can of its first process. It is as good without.
func expect(ctx context.Context, c Container, first *Process) error {
	e, can := c.(Expecter)
	if !can || first == nil {
		return nil
	}
	p := *first
	p.Limits = kernelHeld(p.Limits)
	return e.Expect(ctx, p)
}

// Running is a process that was started in a container.
type Running interface {
	// Wait returns when the main process has ended, everything that it started
	// is dead, and its output has been written in full. The error is ours,
	// never the program's.
	Wait() (Exit, error)
	// Signal sends a signal to the main process and its process group. A
	// process that has ended is no error.
	Signal(sig syscall.Signal) error
	// Kill ends every process of the container's current process tree at once.
	Kill() error
	// Metrics reads the figures as they are now.
	Metrics() (Metrics, error)
	// Resize sets the size of the terminal, if it has one.
	Resize(rows, cols uint16) error
}

// Figuring is a [Running] that can get ready to tell its figures. That is done while its program
// runs, and need not be done when somebody waits for its end.
type Figuring interface{ PrepareFigures() }

// Sparing is a [Running] that can tell its CPU time and its memory alone, which takes less than all of its
// figures do.
type Sparing interface{ Used() (Metrics, error) }

// used are those figures of a process, at least.
func used(r Running) (Metrics, error) {
	if s, can := r.(Sparing); can {
		return s.Used()
	}
	return r.Metrics()
}

// Attending is a [Running] whose end can be known sooner, before the kernel has taken its process down. That
// is prepared while it waits for its work, and is nothing that a run depends on.
type Attending interface{ Attend() }

// FileTree is a tree of files that the program works in, seen from outside. No
// method follows a symbolic link, opens anything but regular files and
// directories, or blocks on what a program planted. Names are relative and
// slash-separated.
type FileTree interface {
	// WriteFile creates a regular file and its parent directories, owned by the
	// sandbox user. An existing name is replaced, never written through.
	WriteFile(name string, content io.Reader, mode fs.FileMode) error
	// MkdirAll creates a directory and its parents, owned by the sandbox user.
	MkdirAll(name string) error
	// Open opens a regular file for reading. Anything else is an error.
	Open(name string) (File, error)
	// Walk calls visit for each name below the root, parents first, until it
	// has seen max entries, and goes [MaxWalkDepth] deep. Names that vanish in
	// between are passed over.
	Walk(max int, visit func(FileInfo) error) error
	// Usage tells how full the file system is that holds the tree.
	Usage() (DiskUsage, error)
}

// MaxWalkDepth bounds how deep [FileTree.Walk] goes, and with it the length of a path,
// which a program can make longer than the kernel's PATH_MAX.
const MaxWalkDepth = 128

// File is an open regular file of a [FileTree].
type File interface {
	io.ReadCloser
	Stat() (os.FileInfo, error)
}

// FileInfo describes one name of a [FileTree]. Mode has the type bits of lstat.
type FileInfo struct {
	Path    string // slash-separated, relative to the tree
	Size    int64  // bytes
	Mode    fs.FileMode
	ModTime time.Time
	Inode   uint64 // with ModTime and Size tells whether a file was changed
	Links   uint64
}

// DiskUsage is how full a file system is. A zero total means that it is not known.
type DiskUsage struct {
	BytesUsed, BytesTotal   int64
	InodesUsed, InodesTotal int64
	// BlockBytes is what a write needs at least: with less left the disk is full.
	BlockBytes int64
}
