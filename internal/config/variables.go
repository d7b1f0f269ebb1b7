package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/packages"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const (
	prefix       = "SANDBOX_"
	fileVariable = "SANDBOX_CONFIG"
)

// Variable is one environment variable, which is also a key of the file.
type Variable struct {
	Name string
	// Default is the value as it would be written; empty when there is none.
	Default string
	// Help is one sentence.
	Help string
	// Server is set when sandbox-server alone heeds it.
	Server bool
	set    func(c *Config, value string) error
}

// Secret tells whether the value is one to keep to oneself.
func (v Variable) Secret() bool {
	return slices.Contains([]string{"SANDBOX_API_KEY", "E2B_API_KEY", "SANDBOX_REMOTE_KEY"}, v.Name)
}

// Key is the variable's name in the configuration file.
func (v Variable) Key() string { return strings.ToLower(strings.TrimPrefix(v.Name, prefix)) }

// Variables lists every variable that [Load] reads, in the order in which
// they should be shown.
func Variables() []Variable {
	file := Variable{Name: fileVariable, Help: "A YAML file with the settings below, named in lower case without SANDBOX_."}
	return append([]Variable{file}, variables()...)
}

// variables are those that a configuration file may hold as well.
func variables() []Variable {
	return slices.Concat(walls(), imports(), limits(), ceilings(), phases(), technologies(), server())
}

func walls() []Variable {
	return []Variable{
		{"SANDBOX_TYPE", "local", "The runtime: local, the kernel of this machine; docker, an engine; oci, an OCI runtime such as crun, runc or gVisor's runsc; e2b, a service of virtual machines; remote, another sandbox-server; or auto, the strongest that works here.", false, setRuntime},
		{"SANDBOX_FALLBACK", "", "The runtime that takes over where the one above cannot be used: local, or nothing, which is none.", false, setFallback},
		{"SANDBOX_OCI_RUNTIME", "", "The OCI runtime: a name on PATH or a path, and flags of its own, e.g. runsc --platform=systrap. Unset: crun, or else runc.", false, setOCIRuntime},
		{"SANDBOX_ISOLATION", "auto", "The isolation level: auto, full, restricted or none. Auto is the strongest that works here; none only by name.", false, setLevel},
		{"SANDBOX_DATA_DIR", "", "Where build caches live: /var/lib/sandbox-run for root, else sandbox-run under $XDG_DATA_HOME or ~/.local/share.", false, setDataDir},
		{"SANDBOX_TOOLCHAINS", "", "A YAML file that names toolchains, with lines such as python@3.12: /opt/python/bin/python3; they come before those that are found.", false, setToolchains},
		{"SANDBOX_API_KEY", "", "A server's key, of your own choosing, at least 16 characters: sandbox-server asks for it, and sandbox-run --server shows it.", false, into(text, func(c *Config) *string { return &c.Server.APIKey })},
	}
}

func imports() []Variable {
	return []Variable{
		{"SANDBOX_BLOCK_DANGEROUS_IMPORTS", "", "What becomes of programs that import what is blocked: true, they do not run; warn, the result says so; false, nobody looks. Unset: warn, and true at isolation none. Advice, not a boundary.", false, setImports},
		{"SANDBOX_BLOCKED_IMPORTS", "", "The modules that are blocked, with commas between, in place of the usual ones: os,go:os/exec; with a + in front beside them. Unset: the usual ones.", false, into(policy.ParseRules, func(c *Config) *[]policy.Rule { return &c.BlockedImports })},
	}
}

func limits() []Variable {
	return []Variable{
		{"SANDBOX_TIMEOUT_SEC", "33", "Wall clock of the run, in seconds.", false, into(ParseSeconds, func(c *Config) *time.Duration { return &c.Timeout })},
		{"SANDBOX_MEMORY_MB", "512", "Memory and swap together, in MiB; files of the workspace count.", false, into(parseMiB, func(c *Config) *int64 { return &c.MemoryBytes })},
		{"SANDBOX_CPUS", "1", "Cores' worth of CPU time, e.g. 0.5 or 2.", false, into(ParseCPUs, func(c *Config) *float64 { return &c.CPUs })},
		{"SANDBOX_PIDS", "128", "Processes and threads together.", false, into(ParseCount, func(c *Config) *int64 { return &c.Processes })},
		{"SANDBOX_DISK_MB", "256", "Files of the workspace and /tmp, in MiB.", false, into(parseMiB, func(c *Config) *int64 { return &c.DiskBytes })},
		{"SANDBOX_MAX_OUTPUT_KB", "20", "What a result keeps of each output stream, in KiB: head and tail.", false, into(parseKiB, func(c *Config) *int64 { return &c.MaxOutputBytes })},
		{"SANDBOX_MAX_STREAM_MB", "64", "Where an output stream ends the run, in MiB.", false, into(parseMiB, func(c *Config) *int64 { return &c.MaxStreamBytes })},
	}
}

func ceilings() []Variable {
	return []Variable{
		{"SANDBOX_MAX_TIMEOUT_SEC", "", "The longest wall clock that a request may ask for, in seconds; unset: no ceiling at the command line.", false, into(ParseSeconds, func(c *Config) *time.Duration { return &c.MaxTimeout })},
		{"SANDBOX_MAX_MEMORY_MB", "", "The most memory that a request may ask for, in MiB.", false, into(parseMiB, func(c *Config) *int64 { return &c.MaxMemoryBytes })},
		{"SANDBOX_MAX_CPUS", "", "The most CPUs that a request may ask for.", false, into(ParseCPUs, func(c *Config) *float64 { return &c.MaxCPUs })},
		{"SANDBOX_MAX_PIDS", "", "The most processes that a request may ask for.", false, into(ParseCount, func(c *Config) *int64 { return &c.MaxProcesses })},
		{"SANDBOX_MAX_DISK_MB", "", "The most disk that a request may ask for, in MiB.", false, into(parseMiB, func(c *Config) *int64 { return &c.MaxDiskBytes })},
	}
}

func phases() []Variable {
	return []Variable{
		{"SANDBOX_COMPILE_MEMORY_MB", "2048", "Memory of the compile phase, in MiB.", false, into(parseMiB, func(c *Config) *int64 { return &c.CompileMemoryBytes })},
		{"SANDBOX_COMPILE_CPUS", "", "CPUs of the compile phase; unset: all.", false, into(ParseCPUs, func(c *Config) *float64 { return &c.CompileCPUs })},
		{"SANDBOX_COMPILE_CACHE_MB", "256", "What is kept at most of what compilers have made, in MiB, for the next run of the same source; 0 keeps nothing.", false, into(parseMiBOrNone, func(c *Config) *int64 { return &c.CompileCacheBytes })},
		{"SANDBOX_PYTHON_INDEX", packages.DefaultIndex, "Where packages for Python come from: the address of an index that pip and uv understand (PEP 503), without a password.", false, setPythonIndex},
	}
}

func server() []Variable {
	return []Variable{
		{"SANDBOX_PORT", "8080", "The port to listen on; 0 takes a free one.", true, into(parsePort, func(c *Config) *int64 { return &c.Server.Port })},
		{"SANDBOX_ADDR", "", "The address to listen on; unset: loopback. Any other needs keys.", true, into(text, func(c *Config) *string { return &c.Server.Addr })},
		{"SANDBOX_API_KEYS_FILE", "", "A YAML file of keys, tenants and their limits.", true, into(text, func(c *Config) *string { return &c.Server.APIKeysFile })},
		{"SANDBOX_INSECURE", "false", "True lets everybody in without a key, wherever it listens.", true, into(parseBool, func(c *Config) *bool { return &c.Server.Insecure })},
		{"SANDBOX_TLS_CERT", "", "A certificate chain in PEM; with SANDBOX_TLS_KEY it serves HTTPS.", true, into(text, func(c *Config) *string { return &c.Server.TLSCert })},
		{"SANDBOX_TLS_KEY", "", "The certificate's private key in PEM.", true, into(text, func(c *Config) *string { return &c.Server.TLSKey })},
		{"SANDBOX_MAX_CONCURRENT", "", "Runs at a time; unset: 8 for each core, fewer where so many default memory limits do not fit.", true, into(ParseCount, func(c *Config) *int64 { return &c.Server.MaxConcurrent })},
		{"SANDBOX_TOTAL_MEMORY_MB", "", "What the memory limits of all runs may add up to, in MiB; unset: three quarters of the machine's, or of its own control group's.", true, into(parseMiB, func(c *Config) *int64 { return &c.Server.TotalMemoryBytes })},
		{"SANDBOX_QUEUE", "0", "Runs that may wait for a place; 0: none waits.", true, into(parseQueue, func(c *Config) *int64 { return &c.Server.Queue })},
		{"SANDBOX_MAX_BODY_MB", "16", "The largest request body, in MiB.", true, into(parseMiB, func(c *Config) *int64 { return &c.Server.MaxBodyBytes })},
		{"SANDBOX_DRAIN_SEC", "30", "How long runs may go on after SIGTERM, in seconds.", true, into(ParseSeconds, func(c *Config) *time.Duration { return &c.Server.Drain })},
		{"SANDBOX_WARM", "auto", "What is made before it is wanted: auto, containers with interpreters that wait in them, each for one run; single-use, the same, and no compiler goes on to the next source of its tenant, no interpreter is forked and no network namespace is used again; off, nothing.", true, setWarm},
		{"SANDBOX_AUDIT_DAYS", "90", "How long audit lines are kept, in days.", true, into(ParseCount, func(c *Config) *int64 { return &c.Server.AuditDays })},
	}
}

func setWarm(c *Config, value string) error {
	if !slices.Contains([]Warm{WarmAuto, WarmSingleUse, WarmOff}, Warm(value)) {
		return fmt.Errorf("%q is neither auto, single-use nor off", value)
	}
	c.Server.Warm = Warm(value)
	return nil
}

func text(s string) (string, error) { return s, nil }

func parseBool(s string) (bool, error) {
	switch s {
	case "true", "1":
		return true, nil
	case "false", "0":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

func parsePort(s string) (int64, error) { return parseRange(s, "port", 65535) }

func parseQueue(s string) (int64, error) { return parseRange(s, "queue", 100_000) }

// parseRange reads a whole number from 0 to most.
func parseRange(s, what string, most int64) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s %q is not a whole number from 0 to %d", what, s, most)
	}
	return n, nil
}

// laterVariables belong to features of this project that are not there yet: the contract names
// them, and nothing reads them.
func laterVariables() []string {
	return []string{
		"SANDBOX_STORE_CODE", "SANDBOX_ARTIFACTS_DIR", "SANDBOX_NPM_REGISTRY",
		"SANDBOX_GOPROXY", "SANDBOX_CARGO_REGISTRY", "SANDBOX_MAVEN_REPOSITORY",
		"SANDBOX_CLUSTER",
	}
}

// into makes the setter of a field from a parser of its type.
func into[T any](parse func(string) (T, error), field func(*Config) *T) func(*Config, string) error {
	return func(c *Config, value string) error {
		v, err := parse(value)
		if err == nil {
			*field(c) = v
		}
		return err
	}
}

func parseMiB(s string) (int64, error) { return parseUnits(s, "MiB", 1<<20) }

// parseMiBOrNone lets 0 stand for nothing at all, where that means something.
func parseMiBOrNone(s string) (int64, error) {
	if s == "0" {
		return 0, nil
	}
	return parseMiB(s)
}

func parseKiB(s string) (int64, error) { return parseUnits(s, "KiB", 1<<10) }

// parseUnits reads a positive whole number of units of that many bytes. The
// unit is in the variable's name, so that a suffix would say it twice.
func parseUnits(s, unit string, size int64) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%q is not a whole number of %s", s, unit)
	}
	if err != nil || n < 1 || n > sandbox.MaxBytes/size {
		return 0, fmt.Errorf("%s %s is out of range: at least 1, at most %d", s, unit, sandbox.MaxBytes/size)
	}
	return n * size, nil
}

func setPythonIndex(c *Config, value string) error {
	_, err := packages.CheckIndex(value)
	c.PythonIndex = value
	return err
}

func setImports(c *Config, value string) error {
	modes := map[string]policy.Mode{"true": policy.Block, "1": policy.Block, "warn": policy.Warn, "false": policy.Off, "0": policy.Off}
	mode, ok := modes[value]
	if !ok {
		return fmt.Errorf("%q is neither true, warn nor false", value)
	}
	c.Imports = mode
	return nil
}

func setLevel(c *Config, value string) error {
	levels := []sandbox.Level{sandbox.LevelAuto, sandbox.LevelFull, sandbox.LevelRestricted, sandbox.LevelNone}
	if !slices.Contains(levels, sandbox.Level(value)) {
		return fmt.Errorf("%q is not an isolation level: expected auto, full, restricted or none", value)
	}
	c.Isolation = sandbox.Level(value)
	return nil
}

// setToolchains reads the file that names toolchains.
func setToolchains(c *Config, value string) error {
	content, err := os.ReadFile(value)
	if err != nil {
		return err
	}
	if c.Toolchains, err = language.ParseNamed(content); err != nil {
		return fmt.Errorf("%s: %w", value, err)
	}
	return nil
}

func setDataDir(c *Config, value string) error {
	if !filepath.IsAbs(value) {
		return fmt.Errorf("%q is not an absolute path", value)
	}
	c.DataDir = filepath.Clean(value)
	return nil
}
