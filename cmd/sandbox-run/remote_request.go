package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// maxRemoteStdin is how much input a program on a server is given: all of it is
// sent before the program starts.
const maxRemoteStdin = 16 << 20

// request is what a server is asked. What it cannot be asked the command line has
// refused already.
func request(ctx context.Context, req executor.Request, notify func(string)) (api.Request, error) {
	stdin, err := readStdin(ctx, req.Stdin)
	if err != nil {
		return api.Request{}, err
	}
	if !utf8.Valid(req.Code) {
		return api.Request{}, &executor.InputError{Field: "/code", Detail: "the source is not UTF-8, and a server can be sent nothing else"}
	}
	out := api.Request{
		Language: req.Language, Code: string(req.Code), Files: inputFiles(req.Files, notify), Entry: req.Entry,
		Args: req.Args, Env: req.Env, Stdin: stdin, Requirements: req.Requirements, Image: req.Image, Isolation: string(req.Isolation),
		TimeoutSeconds: req.Limits.WallTime.Seconds(), Recompile: req.Recompile,
		Network: &api.RequestNetwork{Mode: string(req.Network.Mode), Allow: req.Network.Allow, AllowDNS: req.Network.AllowDNS},
	}
	if req.Imports != "" || len(req.BlockImports) > 0 {
		out.Policy = &api.RequestPolicy{Imports: string(req.Imports), BlockedImports: req.BlockImports}
	}
	if req.Collect != nil {
		out.Collect = &req.Collect
	}
	l := req.Limits
	limits := api.RequestLimits{
		MemoryMB: units(l.MemoryBytes, 1<<20), CPUCores: l.CPUs, CPUSeconds: l.CPUTime.Seconds(), DiskMB: units(req.DiskBytes, 1<<20),
		Processes: l.Processes, OpenFiles: l.OpenFiles,
		OutputKB: units(req.MaxOutputBytes, 1<<10), StreamMB: units(req.MaxStreamBytes, 1<<20),
	}
	if limits != (api.RequestLimits{}) {
		out.Limits = &limits
	}
	return out, nil
}

func units(bytes, size int64) float64 { return float64(bytes) / float64(size) }

// inputFiles are the files of a request; what is no text is written in base64.
func inputFiles(in map[string]executor.InputFile, notify func(string)) map[string]api.InputFile {
	out := make(map[string]api.InputFile, len(in))
	var executable []string
	for _, name := range slices.Sorted(maps.Keys(in)) {
		f := in[name]
		out[name] = api.InputFile{Content: string(f.Content)}
		if !utf8.Valid(f.Content) {
			out[name] = api.InputFile{Content: base64.StdEncoding.EncodeToString(f.Content), Encoding: api.EncodingBase64}
		}
		if f.Executable {
			executable = append(executable, name)
		}
	}
	if len(executable) > 0 {
		notify("not executable on the server: " + strings.Join(executable, ", "))
	}
	return out
}

// readStdin reads all that the program will read. A terminal or pipe may never
// end, which ctx does not wait for.
func readStdin(ctx context.Context, r io.Reader) (string, error) {
	if r == nil {
		return "", nil
	}
	type input struct {
		content []byte
		err     error
	}
	done := make(chan input, 1)
	go func() {
		content, err := io.ReadAll(io.LimitReader(r, maxRemoteStdin+1))
		done <- input{content, err}
	}()
	var in input
	select {
	case <-ctx.Done():
		return "", ctx.Err()
	case in = <-done:
	}
	var fault string
	switch {
	case in.err != nil:
		return "", &executor.InputError{Field: "/stdin", Detail: fmt.Sprintf("cannot read the program's input: %v", in.err)}
	case len(in.content) > maxRemoteStdin:
		fault = fmt.Sprintf("is larger than %d MiB, which is the most that a server is sent", maxRemoteStdin>>20)
	case !utf8.Valid(in.content):
		fault = "is not UTF-8, and a server can be sent nothing else"
	default:
		return string(in.content), nil
	}
	return "", &executor.InputError{Field: "/stdin", Detail: "the program's input " + fault + ": give it as a file, with --in"}
}

// deliver hands the files of a result over, which then carries none, as a run on
// this machine does.
func deliver(r *api.Result, receive func(sandbox.FileInfo, io.Reader) error) error {
	for _, name := range slices.Sorted(maps.Keys(r.Files)) {
		f := r.Files[name]
		content, err := api.InputFile{Content: f.Content, Encoding: f.Encoding}.Bytes()
		if err != nil {
			r.FilesSkipped = append(r.FilesSkipped, api.SkippedFile{Path: name, Reason: err.Error()})
			continue
		}
		mode, err := strconv.ParseUint(f.Mode, 8, 32)
		if err != nil {
			mode = 0o644
		}
		info := sandbox.FileInfo{Path: name, Size: int64(len(content)), Mode: fs.FileMode(mode).Perm()}
		if err := receive(info, bytes.NewReader(content)); err != nil {
			return err
		}
	}
	r.Files = nil
	return nil
}
