package executor

import (
	"io"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Request is one run as the doors ask for it: what the command line and the
// server build from flags and JSON.
type Request struct {
	// Language is a name or alias, with an optional version after @.
	Language string
	// Code is the main source. Files are the others, or all of them.
	Code  []byte
	Files map[string]InputFile
	// Entry is the main file among Files; empty means by convention.
	Entry string
	Args  []string
	Env   map[string]string
	// Dir is the working directory, relative to the workspace or absolute.
	Dir string
	// Stdin is what the program reads; nil means empty.
	Stdin io.Reader
	// TTY gives the program a terminal.
	TTY *sandbox.TTY

	// Requirements are packages in the language's own notation, installed before
	// the run.
	Requirements []string

	// Imports is what becomes of a program that imports what is blocked; empty takes
	// the executor's policy. BlockImports are modules to block beside its own, as
	// [policy.ParseRule] reads them.
	Imports      policy.Mode
	BlockImports []string

	// Tenant is who asks; see [sandbox.Spec].
	Tenant string

	// Image is the root file system; empty means the toolchains of the host, or the
	// runtime's own image for the language.
	Image     string
	Isolation sandbox.Level
	Network   sandbox.NetworkPolicy

	// Limits bind the run phase; zero fields take the executor's defaults.
	Limits sandbox.Limits
	// DiskBytes limits the workspace; zero takes the default.
	DiskBytes       int64
	WorkspaceOnDisk bool
	CompileTimeout  time.Duration
	// Recompile has the compiler run, although what it made of the same may be kept.
	Recompile bool
	// MaxOutputBytes caps what is kept of each stream in the result; zero
	// takes the default.
	MaxOutputBytes int64
	// MaxStreamBytes ends the run when a stream passes it; zero takes the
	// default, negative means no ceiling.
	MaxStreamBytes int64

	// TraceDenied names the system calls of the program that were denied; see
	// [sandbox.Process].
	TraceDenied bool

	// OnStart is told when the program has started, so that a door can resize
	// its terminal or send it signals; it may be nil.
	OnStart func(sandbox.Running)

	// Collect are the globs of files to return. Nil means everything that was
	// made or changed but build leftovers; empty means nothing. There are at most 256,
	// of 4096 bytes each.
	Collect []string
	// OnFile, if set, receives each collected file as a stream, and the result
	// then carries no contents.
	OnFile func(info sandbox.FileInfo, content io.Reader) error
}

// InputFile is a file to put into the workspace.
type InputFile struct {
	Content []byte
	// Executable sets the mode to 0755 instead of 0644.
	Executable bool
}

// Sink receives the events of a run in order, from one goroutine at a time. A
// sink that blocks slows the program down; one that fails cancels the run.
type Sink func(api.Event) error
