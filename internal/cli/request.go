package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// request turns flags and source into what the engine runs. close frees what
// it opened.
func (a *app) request(f *runFlags, cfg config.Config, src *source) (req executor.Request, closeInput func(), err error) {
	closeInput = func() {}
	files, err := allFiles(src, f.In)
	if err != nil {
		return req, closeInput, err
	}
	env, err := environment(f.Env, a.environ)
	if err != nil {
		return req, closeInput, err
	}
	packages, err := f.packages()
	if err != nil {
		return req, closeInput, err
	}
	req = executor.Request{
		Language:     src.language,
		Code:         src.code,
		Files:        files,
		Entry:        f.Entry,
		Args:         f.Args,
		Env:          env,
		Dir:          f.Workdir,
		Requirements: packages,
		Imports:      f.imports(),
		BlockImports: f.BlockImport,
		Image:        f.Image,
		Isolation:    cfg.Isolation,
		Network:      f.network(),
		Collect:      f.collect(),
		TraceDenied:  f.TraceDenied,
		Recompile:    f.Recompile,
	}
	f.setLimits(&req)
	req.Stdin, closeInput, err = a.programInput(f, src)
	return req, closeInput, err
}

// allFiles are those of a project and of --in.
func allFiles(src *source, in []string) (map[string]executor.InputFile, error) {
	t := newTree()
	for name, file := range src.files {
		t.files[name] = file
		t.bytes += int64(len(file.Content))
	}
	return t.files, t.addInputs(in)
}

// environment reads K=V, and K, which takes the value from ours and is left
// out where we have none, as in docker.
func environment(entries, ours []string) (map[string]string, error) {
	env := map[string]string{}
	for _, entry := range entries {
		name, value, given := strings.Cut(entry, "=")
		if name == "" {
			return nil, fmt.Errorf("--env %q has no name: write NAME=VALUE", entry)
		}
		if !given {
			value, given = inherited(name, ours)
		}
		if given {
			env[name] = value
		}
	}
	return env, nil
}

func inherited(name string, ours []string) (string, bool) {
	for _, entry := range ours {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// packages are those of --require and of the files of --requirements. A # at the
// beginning of a word begins a comment, as for pip.
func (f *runFlags) packages() ([]string, error) {
	list := slices.Clone(f.Require)
	for _, name := range f.Requirements {
		text, err := readFile(name, maxSourceBytes)
		if err != nil {
			return nil, fmt.Errorf("--requirements: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			if i := slices.IndexFunc(words, func(word string) bool { return word[0] == '#' }); i >= 0 {
				words = words[:i]
			}
			if len(words) > 0 {
				list = append(list, strings.Join(words, " "))
			}
		}
	}
	return list, nil
}

// imports is the import policy that was asked for, if one was.
func (f *runFlags) imports() policy.Mode {
	switch {
	case f.Trusted:
		return policy.Off
	case f.Imports != nil:
		return policy.Mode(*f.Imports)
	}
	return ""
}

// network leaves the mode empty where none was given: then it follows from the rest.
func (f *runFlags) network() sandbox.NetworkPolicy {
	p := sandbox.NetworkPolicy{Allow: f.Allow, AllowDNS: f.AllowDNS}
	if f.Network != nil {
		p.Mode = sandbox.NetworkMode(*f.Network)
	}
	return p
}

// collect is which files to return: nil is everything that was made. Without
// a place to put them nothing is fetched.
func (f *runFlags) collect() []string {
	format := f.format()
	if len(f.Collect) == 0 && f.Out == "" && (format == formatText || format == formatRaw) {
		return []string{}
	}
	return f.Collect
}

// setLimits copies the limits that were given by name, and marks them as such.
func (f *runFlags) setLimits(req *executor.Request) {
	l := &req.Limits
	take(&l.WallTime, f.Timeout, l, sandbox.LimitWallTime)
	take(&l.CPUTime, f.CPUTime, l, sandbox.LimitCPUTime)
	take(&l.CPUs, f.CPUs, l, sandbox.LimitCPUs)
	take(&l.MemoryBytes, f.Memory, l, sandbox.LimitMemory)
	take(&l.Processes, f.Pids, l, sandbox.LimitProcesses)
	take(&l.OpenFiles, f.Nofile, l, sandbox.LimitOpenFiles)
	take(&req.DiskBytes, f.Disk, l, sandbox.LimitDisk)
	req.WorkspaceOnDisk = f.OnDisk
	take(&req.CompileTimeout, f.CompileTimeout, nil, "")
	take(&req.MaxOutputBytes, f.MaxOutput, nil, "")
	if take(&req.MaxStreamBytes, f.MaxStream, nil, ""); f.MaxStream != nil && *f.MaxStream == 0 {
		req.MaxStreamBytes = -1 // no ceiling
	}
}

// take copies a flag that was given; strict, if not nil, learns its name.
func take[T, F number](target *T, flag *F, strict *sandbox.Limits, name string) {
	if flag == nil {
		return
	}
	*target = T(*flag)
	if strict != nil {
		strict.Strict = append(strict.Strict, name)
	}
}

// apply lets the flags that are an operator's decision win over environment
// and file.
func (f *runFlags) apply(cfg *config.Config) {
	cfg.Image = f.Image
	f.choose(cfg)
	if f.Isolation != nil {
		cfg.Isolation = sandbox.Level(*f.Isolation)
	}
	if f.InstallTimeout != nil {
		cfg.InstallTimeout = time.Duration(*f.InstallTimeout)
	}
}

// programInput is what the program reads. Our own descriptors are never handed
// over as they are: a terminal or file that we hold is open for more than
// reading, and locks on it would reach outside.
func (a *app) programInput(f *runFlags, src *source) (io.Reader, func(), error) {
	switch {
	case f.Stdin == "-" || f.Interactive:
		return struct{ io.Reader }{a.stdin}, func() {}, nil
	case f.TTY && !src.fromStdin:
		return struct{ io.Reader }{a.stdin}, func() {}, nil
	case f.Stdin == "":
		return nil, func() {}, nil
	}
	if isDir(f.Stdin) {
		return nil, func() {}, fmt.Errorf("--stdin %s is a directory", f.Stdin)
	}
	file, err := os.Open(f.Stdin)
	if err != nil {
		return nil, func() {}, fmt.Errorf("--stdin: %w", err)
	}
	return struct{ io.Reader }{file}, func() { file.Close() }, nil
}
