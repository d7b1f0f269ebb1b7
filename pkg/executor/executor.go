package executor

import (
	"context"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Config is what an operator decides, for every run of an [Executor].
type Config struct {
	// Defaults bind the run phase where a request asks for nothing, and
	// Ceilings are the most that it may ask for; zero fields have no ceiling.
	Defaults, Ceilings sandbox.Limits
	// DefaultDiskBytes and MaxDiskBytes are the same for the workspace.
	DefaultDiskBytes, MaxDiskBytes int64
	// Compile binds compile and install phases. Its WallTime is that of compiling.
	Compile          sandbox.Limits
	CompileDiskBytes int64
	InstallTimeout   time.Duration
	// PythonIndex is where packages for Python come from, as pip and uv mean it;
	// empty means PyPI.
	PythonIndex string
	// MaxOutputBytes is the cap on what a result keeps of each stream, where a
	// request asks for nothing; OutputCeilingBytes is the most that it may ask
	// for, 0 being no ceiling.
	MaxOutputBytes, OutputCeilingBytes int64
	// MaxStreamBytes is the ceiling of each stream; 0 means none.
	MaxStreamBytes int64
	// DataDir holds build caches and what else outlives a run.
	DataDir string
	// Host is where toolchains are looked for, unless containers have an image.
	Host language.Host
	// Imports is the policy for what programs import.
	Imports ImportPolicy
	// Warm bounds the containers that are made before they are wanted; the zero value
	// makes none.
	Warm sandbox.PoolOptions
	// CompiledBytes is what is kept at most of what compilers have made, in DataDir; 0
	// keeps nothing.
	CompiledBytes int64
	// Images are patterns ([path.Match]) of the images that requests may name; nil
	// lets them name any.
	Images []string
	// Heartbeat is how long a stream of events may be silent before it gets a
	// heartbeat; 0 sends none.
	Heartbeat time.Duration
	// Warnings are said with every result: what is not as the operator wants it.
	Warnings []string
	// Told makes of words about this host those that a result has, which is for whoever
	// has sent the request; nil leaves them.
	Told func(string) string
	// Notify is told of slow preparations, such as filling a build cache; it
	// may be nil.
	Notify func(message string)
}

// InputError is a request that cannot be run as it is: the caller's fault, told
// before anything ran.
type InputError struct {
	// Kind is what doors map to an exit code or HTTP status.
	Kind InputKind
	// Field is the JSON pointer of the field at fault, or empty.
	Field  string
	Detail string
}

func (e *InputError) Error() string { return e.Detail }

// InputKind sorts [InputError]s.
type InputKind int

// The kinds of input errors.
const (
	InputInvalid         InputKind = iota // a value that cannot be
	InputUnknownLanguage                  // no such language
	InputNoToolchain                      // the language is known, but not installed
	InputUnsupported                      // asked for by name and not enforceable here
)

// Executor runs requests on one runtime. It is safe for concurrent use.
type Executor struct {
	runtime sandbox.Runtime
	manager *sandbox.Manager
	cfg     Config
	looks   *looks
	found   found

	artefacts *artefacts // nil where nothing is kept
}

// New makes an executor. Closing the runtime stays the caller's, after the executor.
func New(rt sandbox.Runtime, cfg Config) *Executor {
	if cfg.Host.Cache == nil && cfg.DataDir != "" {
		cfg.Host.Cache = newVersionCache(cfg.DataDir)
	}
	if cfg.Imports.Rules == nil {
		cfg.Imports.Rules = policy.DefaultRules()
	}
	e := &Executor{runtime: rt, manager: sandbox.NewManager(rt, 0), cfg: cfg, looks: newLooks(),
		artefacts: newArtefacts(cfg.DataDir, cfg.CompiledBytes)}
	e.manager.KeepReady(cfg.Warm)
	return e
}

// Run runs one request. Whatever the program did, and whatever went wrong on
// our side once the request was accepted, is in the result; the error is an
// [*InputError], whose result is nil unless events were sent, or phases ended, before. sink may be nil.
func (e *Executor) Run(ctx context.Context, req Request, sink Sink) (*api.Result, error) {
	admitted, err := e.Admit(ctx, req)
	if err != nil {
		return nil, err
	}
	return admitted.Run(ctx, sink)
}

// Toolchains lists what was found for every language, and what is missing.
func (e *Executor) Toolchains(ctx context.Context) (found []language.Toolchain, missing []language.Missing) {
	held := &place{of: e.looks}
	defer held.free()
	images := map[string]*inside{} // one container of an image answers for all languages
	for _, lang := range language.All() {
		spec := sandbox.Spec{Language: lang.Info().Name, NoFetch: true} // a list is no reason to wait for gigabytes
		img, err := e.runtime.Image(ctx, spec)
		var f []language.Toolchain
		var m []language.Missing
		switch {
		case err != nil:
		case img.IsZero():
			f, m = lang.Find(ctx, e.cfg.Host)
		default:
			if images[img.String()] == nil {
				images[img.String()] = &inside{e: e, spec: spec, img: img, place: held}
			}
			in := images[img.String()]
			f, m = in.find(ctx, lang, e.cfg.Host)
			err = in.err
		}
		if err != nil {
			f, m = nil, []language.Missing{{Language: spec.Language, Reason: err.Error(), Inside: true}}
		}
		found, missing = append(found, f...), append(missing, m...)
	}
	for _, in := range images {
		_ = in.close(ctx) // what stays is for gc
	}
	return found, missing
}
