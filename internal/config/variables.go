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
	set  func(c *Config, value string) error
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
	return slices.Concat(walls(), limits(), ceilings(), phases())
}

func walls() []Variable {
	return []Variable{
		{"SANDBOX_TYPE", "local", "The runtime; this build has local, the kernel of this machine.", setRuntime},
		{"SANDBOX_ISOLATION", "auto", "The isolation level: auto, full, restricted or none. Auto is the strongest that works here; none only by name.", setLevel},
		{"SANDBOX_DATA_DIR", "", "Where build caches live: /var/lib/sandbox-run for root, else sandbox-run under $XDG_DATA_HOME or ~/.local/share.", setDataDir},
		{"SANDBOX_TOOLCHAINS", "", "A YAML file that names toolchains, with lines such as python@3.12: /opt/python/bin/python3; they come before those that are found.", setToolchains},
	}
}

func limits() []Variable {
	return []Variable{
		{"SANDBOX_TIMEOUT_SEC", "33", "Wall clock of the run, in seconds.", into(ParseSeconds, func(c *Config) *time.Duration { return &c.Timeout })},
		{"SANDBOX_MEMORY_MB", "512", "Memory and swap together, in MiB; files of the workspace count.", into(parseMiB, func(c *Config) *int64 { return &c.MemoryBytes })},
		{"SANDBOX_CPUS", "1", "Cores' worth of CPU time, e.g. 0.5 or 2.", into(ParseCPUs, func(c *Config) *float64 { return &c.CPUs })},
		{"SANDBOX_PIDS", "128", "Processes and threads together.", into(ParseCount, func(c *Config) *int64 { return &c.Processes })},
		{"SANDBOX_DISK_MB", "256", "Files of the workspace and /tmp, in MiB.", into(parseMiB, func(c *Config) *int64 { return &c.DiskBytes })},
		{"SANDBOX_MAX_OUTPUT_KB", "20", "What a result keeps of each output stream, in KiB: head and tail.", into(parseKiB, func(c *Config) *int64 { return &c.MaxOutputBytes })},
		{"SANDBOX_MAX_STREAM_MB", "64", "Where an output stream ends the run, in MiB.", into(parseMiB, func(c *Config) *int64 { return &c.MaxStreamBytes })},
	}
}

func ceilings() []Variable {
	return []Variable{
		{"SANDBOX_MAX_TIMEOUT_SEC", "", "The longest wall clock that a request may ask for, in seconds; unset: no ceiling at the command line.", into(ParseSeconds, func(c *Config) *time.Duration { return &c.MaxTimeout })},
		{"SANDBOX_MAX_MEMORY_MB", "", "The most memory that a request may ask for, in MiB.", into(parseMiB, func(c *Config) *int64 { return &c.MaxMemoryBytes })},
		{"SANDBOX_MAX_CPUS", "", "The most CPUs that a request may ask for.", into(ParseCPUs, func(c *Config) *float64 { return &c.MaxCPUs })},
		{"SANDBOX_MAX_PIDS", "", "The most processes that a request may ask for.", into(ParseCount, func(c *Config) *int64 { return &c.MaxProcesses })},
		{"SANDBOX_MAX_DISK_MB", "", "The most disk that a request may ask for, in MiB.", into(parseMiB, func(c *Config) *int64 { return &c.MaxDiskBytes })},
	}
}

func phases() []Variable {
	return []Variable{
		{"SANDBOX_COMPILE_MEMORY_MB", "2048", "Memory of the compile phase, in MiB.", into(parseMiB, func(c *Config) *int64 { return &c.CompileMemoryBytes })},
		{"SANDBOX_COMPILE_CPUS", "", "CPUs of the compile phase; unset: all.", into(ParseCPUs, func(c *Config) *float64 { return &c.CompileCPUs })},
	}
}

// laterVariables belong to other programs and features of this project. They
// are neither read here nor taken for misspellings.
func laterVariables() []string {
	return []string{
		"SANDBOX_FALLBACK", "SANDBOX_BLOCK_DANGEROUS_IMPORTS", "SANDBOX_BLOCKED_IMPORTS",
		"SANDBOX_STORE_CODE", "SANDBOX_ARTIFACTS_DIR", "SANDBOX_PORT", "SANDBOX_ADDR",
		"SANDBOX_API_KEY", "SANDBOX_API_KEYS_FILE", "SANDBOX_INSECURE", "SANDBOX_MAX_CONCURRENT",
		"SANDBOX_QUEUE", "SANDBOX_MAX_BODY_MB", "SANDBOX_PYTHON_INDEX", "SANDBOX_NPM_REGISTRY",
		"SANDBOX_GOPROXY", "SANDBOX_CARGO_REGISTRY", "SANDBOX_MAVEN_REPOSITORY", "SANDBOX_WARM",
		"SANDBOX_CLUSTER", "SANDBOX_STRICT_VERSIONS", "SANDBOX_DOCKER_IMAGE", "SANDBOX_OCI_RUNTIME",
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

func setRuntime(c *Config, value string) error {
	if value != "local" {
		return fmt.Errorf("%q is not a runtime of this build: expected local", value)
	}
	c.Runtime = value
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
