// Package language knows the languages: where their toolchains are on this
// host, and how source becomes a plan of commands. It starts nothing itself.
//
// A language that needs code of its own is a file here that implements
// [Language]. One that needs none is an entry in languages.yaml.
//
// To add a language:
//  1. Try an entry in languages.yaml; most scripting languages and
//     compile-then-run languages fit.
//  2. If it does not fit, write a file that implements [Language] and add it
//     to [All].
//  3. Add its programs to test/programs and run the conformance tests.
package language

import (
	"context"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Language turns source into a [Plan].
type Language interface {
	// Info names the language and tells how its sources are recognised.
	Info() Info
	// Find looks for toolchains on this host. The order is the order of
	// preference: the first one on PATH first, the newest of the others next.
	// Finding nothing is not an error: the missing ones say why.
	Find(ctx context.Context, host Host) ([]Toolchain, []Missing)
	// Plan says what to write and what to run. Its error is the user's: a
	// source that cannot be a program, or an entry that does not exist.
	Plan(tc Toolchain, src Source, res Resources) (Plan, error)
	// Diagnose reads the end of what a failed phase wrote and says what
	// happened in the language's own words.
	Diagnose(phase string, stderr string) Diagnosis
}

// Info names a language.
type Info struct {
	Name       string   // e.g. javascript
	Title      string   // as it is written in messages, e.g. JavaScript
	Aliases    []string // e.g. js, node
	Extensions []string // with the dot, the usual one first
	Shebangs   []string // program names after #!, e.g. python3
	// Entries are file names that are a project's entry by convention, the usual one first:
	// it is also the name of code that came without one.
	Entries []string
	// LeastMemoryBytes is the smallest memory limit that hello world was seen to
	// run under in a control group, rounded up; 0 means sandbox.MinMemoryBytes.
	LeastMemoryBytes int64
	// Install is the command that installs a toolchain on Debian and Ubuntu,
	// and Elsewhere one line for other systems.
	Install, Elsewhere string
}

// Host is the machine that toolchains are looked for on, or the image.
type Host struct {
	// Image, if not nil, is what toolchains are looked for in, in place of the
	// machine: there Path, Home, Named and Getenv count for nothing.
	Image *Image
	// Path is the search path, Home the user's home directory.
	Path []string
	Home string
	// Named maps language@version or language to a program that a
	// configuration file names; it comes before everything else.
	Named map[string]string
	// Want lets Find stop at the first toolchain of this version, or at the
	// first of all when it is empty. Nil finds every one.
	Want *string
	// Getenv reads the environment of the user, for the choices of version
	// managers (PYENV_VERSION, RUSTUP_TOOLCHAIN); nil means that there is none.
	Getenv func(name string) string
	// Cache remembers what slow probes found, by real path and modification
	// time of the program; nil remembers nothing.
	Cache Cache
	// Failed is told when something could not be looked at, or asked, for a reason of this
	// machine's, such as a lack of memory: what was not found may be there. Nil is not.
	Failed func(err error)
}

// Image is a root file system whose programs can be started and not looked at.
type Image struct {
	Name string
	// Digest tells its content, for the Cache; empty means that it is not known.
	Digest string
	// Env is what its programs need, K=V.
	Env []string
	// Run starts a program, looked up on the image's PATH, and returns what it
	// wrote. The error is [io/fs.ErrNotExist] where there is no such program. It bounds
	// how long the program, and all that comes before it, may take.
	Run func(ctx context.Context, args ...string) (output []byte, err error)
}

// Cache remembers the version of a program so that it is asked only once.
type Cache interface {
	Get(key string) (value string, ok bool)
	Put(key, value string)
}

// Toolchain is one installed version of a language.
type Toolchain struct {
	Language string
	Version  string // e.g. 3.12.1
	// Program is the real program by absolute path, never a shim; in an image it is
	// a name, which is looked up on the image's PATH.
	Program string
	// Compiler is the second program, for languages that have one.
	Compiler string
	// Origin tells where it was found: PATH, pyenv, rustup, nvm, asdf, mise,
	// /usr/lib/jvm, configuration, or the name of an image.
	Origin string
	// Image tells the image that it is of, by its digest if that is known; empty
	// means this machine.
	Image string
	// Mounts are the host directories that it needs at the same path, beside
	// the system's own (/usr and its kin).
	Mounts []sandbox.Mount
	// Env is what the toolchain itself needs, K=V.
	Env []string
}

// Missing says why a language or a version has no toolchain.
type Missing struct {
	Language string
	Reason   string
	// Inside tells that it is missing in an image, where it does not help to
	// install it on this machine.
	Inside bool
}

// Source is what the user gave.
type Source struct {
	// Code is the main source when it came without a file name.
	Code []byte
	// Files are all files by slash-separated relative path. With Code set, it
	// holds the other files.
	Files map[string][]byte
	// Entry is the main file, chosen by the user or the caller; empty means
	// the language's convention. For Python, a package directory runs with -m.
	Entry string
	// Args are the program's arguments.
	Args []string
	// Dir is the absolute directory that the program will be started in, when
	// it is not the workspace; plans then name the source by absolute path.
	Dir string
	// Check tells that an interpreter will only parse it.
	Check bool
}

// Resources are the limits of the run phase, told to the language's runtime.
type Resources struct {
	MemoryBytes int64
	CPUs        float64
	// CompileMemoryBytes and CompileCPUs are those of the compile phase.
	CompileMemoryBytes int64
	CompileCPUs        float64
}

// NothingToRun says why a source that compiled is no program.
type NothingToRun string

func (n NothingToRun) Error() string { return string(n) }

// Plan is what to write and what to run.
type Plan struct {
	// Files are written to the workspace, by relative path.
	Files map[string][]byte
	// Mounts and Caches are added to the container.
	Mounts []sandbox.Mount
	Caches []BuildCache
	// Compile is the compile phase; nil when there is none.
	Compile *Step
	// Scripted is that it may run programs of the source's own: what these do beside the
	// compiler's result is in no file of it, and missing when that is used again.
	Scripted bool
	// Run says how to run. It is called after the compile phase with the tree
	// under [sandbox.BuildDir], or nil when there was none. Its error is [NothingToRun]
	// where the source is to blame.
	Run func(build sandbox.FileTree) (Step, error)
	// Ahead is what of the run phase can be started before there is a source, the best
	// first, and CompileAhead what of the compile phase; empty where nothing can, or where
	// this source would notice.
	Ahead, CompileAhead []Ahead
	// Leftovers are patterns (path.Match, per path element or whole path) of
	// files in the workspace that are no results.
	Leftovers []string
}

// Step is one command inside the container.
type Step struct {
	Args []string
	Env  []string // beside the world's own variables
	Dir  string   // empty means the workspace
}

// Ahead is the program of a phase, as it can be started before the source is there; see
// [sandbox.Ahead].
type Ahead struct {
	Step Step
	// Files are what it needs in the workspace. It removes them before it waits.
	Files map[string][]byte
	// Command is what it stands for, where the plan knows that only when it has compiled;
	// nil stands for any. Dirs are there when it starts, below [sandbox.BuildDir]: what is
	// compiled is all in them.
	Command, Dirs []string
	// Args are what the step's command line lacks of the plan's.
	Args []string
	// Again tells that it waits again after its work; see [sandbox.Ahead].
	Again bool
	// Ancestor tells how it may become one; nil if it may not.
	Ancestor *sandbox.Ancestry
	// Sooner tells that it is quicker than the plan's command even with a source; see
	// [sandbox.Ahead].
	Sooner bool
	// Input, if not nil, is all that it waits for, on its standard input: it knows nothing
	// of how a program that was started ahead is told its work.
	Input []byte
	// Settings are prefixes of the names of variables that a program must have from its
	// start.
	Settings []string
}

// settings are an interpreter's own, and what the C library and every program read when
// they start.
func settings(own ...string) []string {
	return append(own, "LC_", "LANG", "TZ", "LD_", "MALLOC_", "GLIBC_", "HOME", "PATH")
}

// PreparedDir is where a preparation leaves the files of a cache: in the build directory,
// whose limit is that of the disk which it may take.
const PreparedDir = sandbox.BuildDir + "/prepared"

// BuildCache is a directory that is prepared once for a toolchain by running
// Prepare in a sandbox without any user's source, and is read-only ever after.
type BuildCache struct {
	// Key names the content: language, version and everything that matters.
	Key string
	// Target is where it is mounted, with a private writable layer.
	Target string
	// OverlayOptional is set where a build that finds no such layer makes do: see [sandbox.Mount].
	OverlayOptional bool
	// Prepare fills [PreparedDir].
	Prepare Step
	// Files are written to the workspace before Prepare runs.
	Files map[string][]byte
	// Title is said to the user while it is prepared, e.g. "the Go standard library".
	Title string
}

// Diagnosis is what the language's own words tell about a failure.
type Diagnosis struct {
	// Reason is what a person would quote, at most 300 characters; empty when
	// there is none.
	Reason string
	// SyntaxError is set when an interpreter's parser refused the source.
	SyntaxError bool
	// OutOfMemory is set when the runtime said that its memory ran out.
	OutOfMemory bool
	// NoProcesses is set when the runtime said that it could not start a
	// process or thread; DiskFull when a write found no space.
	NoProcesses, DiskFull bool
}
