package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
)

// runFlags is the grammar of run. Nil pointers are flags that were not given:
// a limit that was given by name must hold, a default need not.
type runFlags struct {
	Paths []string `arg:"" optional:"" name:"file" help:"The source: a file, several files, or a directory."`

	Lang  string   `short:"l" placeholder:"L" group:"Source" help:"The language, or an alias, with an optional version: python, go, js, rust, java, python@3.12; exec runs a program of the root (default: by the extension or the #! line)."`
	Code  []string `sep:"none" placeholder:"S" group:"Source" help:"The source itself."`
	File  []string `sep:"none" placeholder:"F" group:"Source" help:"The source's file; several make a project."`
	Entry string   `placeholder:"F" group:"Source" help:"The main file of a project (default: by the language's convention)."`

	Stdin       string   `placeholder:"F" group:"The program's world" help:"What the program reads; - passes ours through (default: nothing)."`
	Interactive bool     `short:"i" group:"The program's world" help:"Stream our standard input to the program."`
	TTY         bool     `name:"tty" short:"t" group:"The program's world" help:"Give the program a terminal."`
	Env         []string `short:"e" sep:"none" placeholder:"K=V" group:"The program's world" help:"An environment variable; K alone takes its value from ours."`
	Workdir     string   `short:"w" placeholder:"P" group:"The program's world" help:"The working directory (default: /workspace)."`
	In          []string `sep:"none" placeholder:"P" group:"The program's world" help:"A file or directory to put into the workspace; SRC:DEST names it there."`
	Out         string   `placeholder:"DIR" group:"The program's world" help:"Where to put the files that the program made."`
	Collect     []string `sep:"none" placeholder:"GLOB" group:"The program's world" help:"Which files to return (default: all that were made or changed)."`

	Recompile bool `group:"The program's world" help:"Compile, although the result of the same source may be kept from before."`

	Require      []string `sep:"none" placeholder:"PKG" group:"The program's world" help:"A package to install first, such as requests or 'numpy>=2' (for Python)."`
	Requirements []string `sep:"none" placeholder:"F" group:"The program's world" help:"A file with such packages, one a line."`

	Timeout        *duration `placeholder:"D" group:"Limits" help:"Wall clock of the run (33s)."`
	CompileTimeout *duration `placeholder:"D" group:"Limits" help:"Wall clock of compiling (60s)."`
	InstallTimeout *duration `placeholder:"D" group:"Limits" help:"Wall clock of installing packages (120s)."`
	CPUTime        *duration `name:"cpu-time" placeholder:"D" group:"Limits" help:"CPU time of the run (none: the wall clock bounds it)."`
	Memory         *size     `short:"m" placeholder:"B" group:"Limits" help:"Memory and swap together (512m)."`
	CPUs           *cpus     `name:"cpus" placeholder:"N" group:"Limits" help:"Cores' worth of CPU time (1)."`
	Pids           *count    `placeholder:"N" group:"Limits" help:"Processes and threads (128)."`
	Disk           *size     `placeholder:"B" group:"Limits" help:"Files of the workspace and /tmp (256m)."`
	OnDisk         bool      `name:"on-disk" group:"Limits" help:"Keep these files on disk instead of in memory, under the same limit (as root)."`
	Nofile         *count    `placeholder:"N" group:"Limits" help:"Open files of each process (256)."`
	MaxOutput      *size     `placeholder:"B" group:"Limits" help:"What a result keeps of each stream (20k); text and raw are cut only when this is given."`
	MaxStream      *ceiling  `placeholder:"B" group:"Limits" help:"Where a stream ends the run (64m); 0 is no ceiling, for text and raw."`

	Network  *string  `placeholder:"MODE" enum:"none,localhost,allowlist,full" group:"Isolation" help:"What the program may reach: none; localhost, its own loopback; allowlist, what --allow names; full, the public internet (none)."`
	Allow    []string `sep:"none" placeholder:"HOST[:PORT]" group:"Isolation" help:"What the program may reach: a host, *.DOMAIN, an address or a network; each is one more. Without --network it means allowlist."`
	AllowDNS bool     `name:"allow-dns" group:"Isolation" help:"Let other names resolve as well, although nothing there can be connected to: a way out for data."`

	runtimeFlag
	Image       string   `placeholder:"REF" group:"Isolation" help:"The root file system, with its own toolchains in place of this machine's, e.g. python:3.12-slim; pulled if it is not here."`
	Isolation   *string  `placeholder:"LEVEL" enum:"auto,full,restricted,none" group:"Isolation" help:"auto, full, restricted or none; auto is the strongest level that works here (auto)."`
	Imports     *string  `placeholder:"MODE" enum:"off,warn,block" group:"Isolation" help:"What becomes of a program that imports what is blocked: off, nobody looks; warn, the result has it in meta.blocked_imports; block, it does not run (warn; block at isolation none). Advice, not a boundary."`
	BlockImport []string `name:"block-import" sep:"none" placeholder:"M" group:"Isolation" help:"A module to block beside the usual ones, e.g. requests or go:os/exec; each is one more. Without --imports it means block."`
	Trusted     bool     `group:"Isolation" help:"The same as --imports off."`
	TraceDenied bool     `name:"trace-denied" group:"Isolation" help:"Name the system calls that the program was denied, with the error that it got and the reason (--runtime local)."`
	Server      *string  `placeholder:"URL" group:"Isolation" help:"Run it on the sandbox-server at http://, https:// or unix://, with the key in SANDBOX_API_KEY; auto: on that of this machine if one is up, else here."`

	Output string `short:"o" placeholder:"FORMAT" enum:"text,json,ndjson,raw" default:"text" group:"Output" help:"text, json, ndjson (an event a line) or raw (only the program's own bytes) (text)."`
	JSON   bool   `name:"json" group:"Output" help:"The same as --output json."`
	Quiet  bool   `short:"q" group:"Output" help:"Print only what the program prints."`
	Color  string `placeholder:"WHEN" enum:"auto,always,never" default:"auto" group:"Output" help:"Colours: auto, always or never (auto)."`

	// Args is what followed --.
	Args []string `kong:"-"`
}

// runtimeFlag chooses the runtime, for one run or for one look at it.
type runtimeFlag struct {
	Runtime *string `placeholder:"R" enum:"local,docker,oci,e2b,remote,auto" group:"Isolation" help:"The isolation technology: local, this machine's kernel; docker, an engine; oci, an OCI runtime (SANDBOX_OCI_RUNTIME); e2b, a service of virtual machines; remote, another server; auto, the strongest that works (local)."`
}

// choose lets the flag win over environment and file.
func (f runtimeFlag) choose(cfg *config.Config) {
	if f.Runtime != nil {
		cfg.Runtime = *f.Runtime
	}
}

// lookFlags is the grammar of verbs that look at a runtime.
type lookFlags struct {
	runtimeFlag
	listFlags
}

// listFlags is the grammar of verbs that print a list.
type listFlags struct {
	JSON bool `name:"json" help:"Print JSON."`
}

type completionFlags struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// The types of flags with a notation of their own.
type (
	duration time.Duration // above zero
	size     int64         // bytes, above zero
	ceiling  int64         // bytes; zero is none
	cpus     float64       // cores, above zero
	count    int64         // above zero
)

func (d *duration) UnmarshalText(text []byte) error { return set(d, config.ParseDuration, text) }
func (s *size) UnmarshalText(text []byte) error     { return set(s, config.ParseBytes, text) }
func (c *cpus) UnmarshalText(text []byte) error     { return set(c, config.ParseCPUs, text) }
func (c *count) UnmarshalText(text []byte) error    { return set(c, config.ParseCount, text) }

func (c *ceiling) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*c = 0
		return nil
	}
	return set(c, config.ParseBytes, text)
}

// number is what the parsers of package config make.
type number interface {
	~int64 | ~float64
}

func set[T, P number](target *T, parse func(string) (P, error), text []byte) error {
	value, err := parse(string(text))
	*target = T(value)
	return err
}

// format is the output format that was asked for.
func (f *runFlags) format() string {
	if f.JSON {
		return formatJSON
	}
	return f.Output
}

// check refuses combinations that contradict each other.
func (f *runFlags) check() error {
	switch format := f.format(); {
	case f.JSON && f.Output != formatText && f.Output != formatJSON:
		return fmt.Errorf("--json and --output %s contradict each other", f.Output)
	case f.MaxStream != nil && *f.MaxStream == 0 && format != formatText && format != formatRaw:
		return fmt.Errorf("--max-stream 0 needs --output text or raw: a result in %s is held in memory", format)
	case f.Trusted && (f.Imports != nil && *f.Imports != string(policy.Off) || len(f.BlockImport) > 0):
		return errors.New("--trusted contradicts --imports and --block-import")
	case f.Imports != nil && *f.Imports == string(policy.Off) && len(f.BlockImport) > 0:
		return errors.New("--imports off and --block-import contradict each other")
	case len(f.Collect) > 0 && f.Out == "" && (format == formatText || format == formatRaw):
		return fmt.Errorf("--collect needs --out DIR, or --output json or ndjson, to put the files in")
	case f.TraceDenied && (f.Quiet || format == formatRaw):
		return fmt.Errorf("--trace-denied needs a place to tell of calls: --output text, json or ndjson, without --quiet")
	case f.Interactive && f.Stdin != "" && f.Stdin != "-":
		return fmt.Errorf("--interactive and --stdin %s contradict each other", f.Stdin)
	case f.TTY && f.Stdin != "" && f.Stdin != "-":
		return fmt.Errorf("--tty and --stdin %s contradict each other: a terminal is read from ours", f.Stdin)
	case f.Server != nil && *f.Server != AutoServer && f.onlyHere() != "":
		return fmt.Errorf("%s needs a run on this machine, and --server asks for one elsewhere", f.onlyHere())
	}
	for _, arg := range append([]string{f.Workdir, f.Entry}, append(f.Args, f.Env...)...) {
		if strings.ContainsRune(arg, 0) {
			return fmt.Errorf("the argument %q holds a NUL byte, which no program can be given", arg)
		}
	}
	return nil
}
