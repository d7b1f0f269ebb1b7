package wire

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/executor/policy"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// defaultLanguage is what runs where a request names none.
const defaultLanguage = "python"

// Convert turns a request as it was sent, with the files that were uploaded
// beside it, into what the executor runs.
func Convert(r *api.Request, uploads map[string][]byte) (executor.Request, error) {
	language, err := language(r)
	if err != nil {
		return executor.Request{}, err
	}
	files, err := files(r.Files, uploads)
	if err != nil {
		return executor.Request{}, err
	}
	if r.Code == "" && len(files) == 0 && language != "exec" { // whose arguments name a program
		return executor.Request{}, Invalid(api.ProblemError{Pointer: "/code", Detail: "there is no source: give code, or files"})
	}
	req := executor.Request{
		Language:     language,
		Code:         []byte(r.Code),
		Files:        files,
		Entry:        r.Entry,
		Args:         r.Args,
		Env:          r.Env,
		Requirements: r.Requirements,
		Image:        r.Image,
		Isolation:    sandbox.Level(r.Isolation),
		Collect:      collect(r.Collect),
		Recompile:    r.Recompile,
	}
	if r.Code == "" {
		req.Code = nil
	}
	if r.Stdin != "" {
		req.Stdin = strings.NewReader(r.Stdin)
	}
	if r.Network != nil {
		req.Network = sandbox.NetworkPolicy{Mode: sandbox.NetworkMode(r.Network.Mode), Allow: r.Network.Allow, AllowDNS: r.Network.AllowDNS}
	}
	if r.Policy != nil {
		req.Imports, req.BlockImports = policy.Mode(r.Policy.Imports), r.Policy.BlockedImports
	}
	limits(r, &req)
	return req, nil
}

func language(r *api.Request) (string, error) {
	name := r.Language
	if name == "" {
		name = defaultLanguage
	}
	if r.Version == "" {
		return name, nil
	}
	if strings.Contains(name, "@") {
		return "", Invalid(api.ProblemError{Pointer: "/version", Detail: fmt.Sprintf("the language %q names a version already", name)})
	}
	return name + "@" + r.Version, nil
}

func files(in map[string]api.InputFile, uploads map[string][]byte) (map[string]executor.InputFile, error) {
	out := make(map[string]executor.InputFile, len(in)+len(uploads))
	for name, content := range uploads {
		if _, twice := in[name]; twice {
			return nil, Invalid(api.ProblemError{Pointer: api.Pointer("files", name), Detail: "the file comes twice"})
		}
		out[name] = executor.InputFile{Content: content}
	}
	for name, f := range in {
		content, err := f.Bytes()
		if err != nil {
			return nil, Invalid(api.ProblemError{Pointer: api.Pointer("files", name), Detail: err.Error()})
		}
		out[name] = executor.InputFile{Content: content}
	}
	return out, nil
}

func collect(globs *[]string) []string {
	if globs == nil {
		return nil
	}
	return append([]string{}, *globs...)
}

// limits copies what was asked for and marks it as asked for by name.
func limits(r *api.Request, req *executor.Request) {
	set(&req.Limits.WallTime, seconds(r.TimeoutSeconds), &req.Limits, sandbox.LimitWallTime)
	l := r.Limits
	if l == nil {
		return
	}
	set(&req.Limits.MemoryBytes, bytesOf(l.MemoryMB, 1<<20), &req.Limits, sandbox.LimitMemory)
	set(&req.Limits.CPUs, l.CPUCores, &req.Limits, sandbox.LimitCPUs)
	set(&req.Limits.CPUTime, seconds(l.CPUSeconds), &req.Limits, sandbox.LimitCPUTime)
	set(&req.DiskBytes, bytesOf(l.DiskMB, 1<<20), &req.Limits, sandbox.LimitDisk)
	set(&req.Limits.Processes, l.Processes, &req.Limits, sandbox.LimitProcesses)
	set(&req.Limits.OpenFiles, l.OpenFiles, &req.Limits, sandbox.LimitOpenFiles)
	req.MaxOutputBytes = bytesOf(l.OutputKB, 1<<10)
	req.MaxStreamBytes = bytesOf(l.StreamMB, 1<<20)
}

func set[T comparable](target *T, value T, l *sandbox.Limits, name string) {
	var none T
	if value == none {
		return
	}
	*target = value
	l.Strict = append(l.Strict, name)
}

// seconds never rounds a positive number to zero, which would mean the default.
func seconds(s float64) time.Duration { return time.Duration(math.Ceil(s * float64(time.Second))) }

func bytesOf(n float64, unit int64) int64 { return int64(math.Ceil(n * float64(unit))) }
