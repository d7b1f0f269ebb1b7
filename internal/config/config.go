package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/packages"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Config is what an operator decides, with the defaults filled in.
type Config struct {
	// Runtime is the isolation technology, or [RuntimeAuto]; Isolation its level.
	Runtime string
	// Fallback is the runtime that is used where that one cannot be; empty is none.
	Fallback string
	// OCIRuntime is the program of an OCI runtime and flags of its own; empty means
	// one that is found.
	OCIRuntime string
	// StrictVersions refuses runtimes with known holes.
	StrictVersions bool
	Docker         Docker
	E2B            E2B
	Remote         Remote
	// Image is the one that the command line asks for. Images are patterns of the images that requests may name; nil is any.
	Image  string
	Images []string
	// Toolchains maps a language, with or without a version, to a program.
	Toolchains map[string]string
	Isolation  sandbox.Level

	// Timeout, MemoryBytes, CPUs, Processes, OpenFiles and DiskBytes bind the
	// run phase of a request that does not say otherwise.
	Timeout     time.Duration
	MemoryBytes int64
	CPUs        float64
	Processes   int64
	OpenFiles   int64
	DiskBytes   int64

	// The most that a request may ask for. Zero means that there is no such
	// ceiling: at the command line the person who asks is the operator.
	MaxTimeout     time.Duration
	MaxMemoryBytes int64
	MaxCPUs        float64
	MaxProcesses   int64
	MaxDiskBytes   int64

	// MaxOutputBytes is what a result keeps of each stream, MaxStreamBytes
	// where a stream ends the run.
	MaxOutputBytes int64
	MaxStreamBytes int64

	// The limits of compile and install phases. CompileCPUs zero means all.
	CompileTimeout     time.Duration
	InstallTimeout     time.Duration
	CompileMemoryBytes int64
	CompileCPUs        float64
	CompileDiskBytes   int64
	// CompileCacheBytes is what is kept of compilers' results; 0 keeps nothing.
	CompileCacheBytes int64

	// Imports is what becomes of programs that import what is blocked; empty warns, and
	// blocks at isolation none. BlockedImports is nil for the usual ones.
	Imports        policy.Mode
	BlockedImports []policy.Rule

	// PythonIndex is where packages for Python come from.
	PythonIndex string

	// DataDir holds build caches, the ledger and what else outlives a run.
	DataDir string

	// Server is what the server alone reads.
	Server Server
}

// Server is what an operator decides about sandbox-server.
type Server struct {
	// Addr is the address to listen on; empty means loopback. Port 0 means any.
	Addr string
	Port int64
	// APIKey is a key of the operator's own; APIKeysFile names more.
	APIKey, APIKeysFile string
	// Insecure lets everybody in, without keys, wherever the server listens.
	Insecure bool
	// TLSCert and TLSKey are files in PEM.
	TLSCert, TLSKey string
	// MaxConcurrent is how many runs go on at a time, TotalMemoryBytes what
	// their memory limits may add up to; 0 means what suits the machine.
	MaxConcurrent    int64
	TotalMemoryBytes int64
	// Queue is how many more may wait.
	Queue int64
	// MaxBodyBytes bounds a request's body.
	MaxBodyBytes int64
	// Drain is how long runs may go on after SIGTERM.
	Drain time.Duration
	// Warm tells what is made before it is wanted.
	Warm Warm
	// AuditDays is how long audit lines are kept.
	AuditDays int64
}

// Warm tells what a server makes before it is wanted.
type Warm string

// What a server makes before it is wanted.
const (
	// WarmAuto is containers, with interpreters that wait in them.
	WarmAuto Warm = "auto"
	// WarmSingleUse is the same, and nothing that has served a run serves another.
	WarmSingleUse Warm = "single-use"
	// WarmOff is nothing.
	WarmOff Warm = "off"
)

// Default returns the configuration of an empty environment.
func Default() Config {
	return Config{
		Runtime:            "local",
		Docker:             Docker{Images: map[string]string{}},
		E2B:                E2B{Template: "base"},
		Isolation:          sandbox.LevelAuto,
		Timeout:            33 * time.Second,
		MemoryBytes:        512 << 20,
		CPUs:               1,
		Processes:          128,
		OpenFiles:          256,
		DiskBytes:          256 << 20,
		MaxOutputBytes:     20 << 10,
		MaxStreamBytes:     64 << 20,
		CompileTimeout:     60 * time.Second,
		InstallTimeout:     120 * time.Second,
		PythonIndex:        packages.DefaultIndex,
		CompileMemoryBytes: 2 << 30,
		CompileDiskBytes:   1 << 30,
		CompileCacheBytes:  256 << 20,
		Server:             Server{Port: 8080, MaxBodyBytes: 16 << 20, Drain: 30 * time.Second, AuditDays: 90, Warm: WarmAuto},
	}
}

// Load reads the environment, given as K=V entries, and the file that it
// names. The warnings are for the user; the error names the variable or the
// line of the file that is wrong.
func Load(environ []string) (Config, []string, error) {
	c, env, err := load(environ)
	return c, misspelt(env), err
}

// LoadStrict is [Load] for a program that owns the prefix: a name that is not
// known is an error.
func LoadStrict(environ []string) (Config, error) {
	c, env, err := load(environ)
	if err == nil {
		err = unknown(env)
	}
	return c, err
}

func load(environ []string) (Config, map[string]string, error) {
	c := Default()
	env := sandboxVariables(environ)
	vars := append(variables(), otherImages(slices.Collect(maps.Keys(env)))...)
	if path := env[fileVariable]; path != "" {
		if err := loadFile(&c, vars, path); err != nil {
			return c, env, err
		}
	}
	for _, v := range vars {
		value, set := env[v.Name]
		if !set || value == "" {
			continue
		}
		if err := v.set(&c, value); err != nil {
			return c, env, fmt.Errorf("%s: %w", v.Name, err)
		}
	}
	c.Docker.fill()
	if c.DataDir == "" {
		var err error
		if c.DataDir, err = defaultDataDir(environ, os.Geteuid()); err != nil {
			return c, env, fmt.Errorf("there is no place for what outlives a run: %w; set SANDBOX_DATA_DIR", err)
		}
	}
	return c, env, nil
}

// defaultDataDir is where data lives that outlives a run: the system's place
// for root, the user's own by the XDG base directory specification otherwise.
func defaultDataDir(environ []string, uid int) (string, error) {
	if uid == 0 {
		return "/var/lib/sandbox-run", nil
	}
	if dir := lookup(environ, "XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "sandbox-run"), nil
	}
	if home := lookup(environ, "HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "sandbox-run"), nil
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("sandbox-run-%d", uid))
	return dir, makeOurs(dir)
}

// makeOurs makes a directory where others can make one, too, and refuses theirs: what is in it
// is believed.
func makeOurs(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Chmod(0o700) != nil { // which its owner alone can
		return fmt.Errorf("%s is another user's", dir)
	}
	opened, err := f.Stat()
	if err != nil {
		return err
	}
	named, err := os.Lstat(dir)
	if err == nil && !os.SameFile(opened, named) {
		err = fmt.Errorf("%s is a link", dir)
	}
	return err
}
