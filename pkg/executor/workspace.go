package executor

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Bounds of what goes into a workspace. They catch mistakes; the disk limit
// holds in any case.
const (
	maxFiles      = 10_000
	maxNameBytes  = 1024
	maxPartBytes  = 255                  // NAME_MAX of every Linux file system that matters
	maxParts      = sandbox.MaxWalkDepth // what lies deeper nobody lists
	maxTotalBytes = 64 << 20
)

// checkFiles refuses names that could mean anything but a file below the
// workspace, and input beyond all measure.
func checkFiles(req Request) error {
	if len(req.Files) > maxFiles {
		return &InputError{Field: "/files", Detail: fmt.Sprintf("%d files are too many: at most %d", len(req.Files), maxFiles)}
	}
	total := len(req.Code)
	for _, name := range slices.Sorted(maps.Keys(req.Files)) {
		if err := checkName(name); err != nil {
			return err
		}
		total += len(req.Files[name].Content)
	}
	if total > maxTotalBytes {
		return &InputError{Field: "/files", Detail: fmt.Sprintf("the sources have %s: at most %s", sandbox.FormatBytes(int64(total)), sandbox.FormatBytes(maxTotalBytes))}
	}
	return nil
}

// checkCode refuses a file that would be lost, since code that came without a name is written
// under the one that its language gives it. Of two that are the same nothing is lost.
func (r *run) checkCode() error {
	entries := r.lang.Info().Entries
	if r.req.Code == nil || len(entries) == 0 {
		return nil
	}
	name := entries[0]
	if file, taken := r.req.Files[name]; taken && !bytes.Equal(file.Content, r.req.Code) {
		return &InputError{Field: api.Pointer("files", name), Detail: fmt.Sprintf(
			"the source is written as %q, and this other file of that name would be lost: give the file another name, or the source as one of the files, chosen by entry (--entry)", name)}
	}
	return nil
}

// checkTree refuses files that cannot be together in one tree.
func checkTree(files map[string]InputFile) error {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if dir, ok := fileAbove(files, name); ok {
			return &InputError{Field: api.Pointer("files", name), Detail: fmt.Sprintf("%q is a file and a directory: %q lies below it", dir, name)}
		}
	}
	return nil
}

// fileAbove finds the file that stands where name needs a directory.
func fileAbove(files map[string]InputFile, name string) (dir string, found bool) {
	for dir = path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if _, found = files[dir]; found {
			return dir, true
		}
	}
	return "", false
}

// checkWords refuses arguments and variables that no program can be given: the
// kernel would take a NUL for their end.
func checkWords(req Request) error {
	for i, arg := range req.Args {
		if strings.ContainsRune(arg, 0) {
			return &InputError{Field: fmt.Sprintf("/args/%d", i), Detail: fmt.Sprintf("the argument %.80q holds a NUL byte, which no program can be given", arg)}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(req.Env)) {
		field := api.Pointer("env", name)
		if name == "" || strings.ContainsAny(name, "=\x00") {
			return &InputError{Field: field, Detail: fmt.Sprintf("%.80q is no name of a variable: it must not be empty, and hold neither = nor NUL", name)}
		}
		if strings.ContainsRune(req.Env[name], 0) {
			return &InputError{Field: field, Detail: fmt.Sprintf("the variable %.80q holds a NUL byte, which no program can be given", name)}
		}
	}
	return nil
}

func checkName(name string) error {
	field := api.Pointer("files", name)
	tooLong := func(part string) bool { return len(part) > maxPartBytes }
	switch {
	case len(name) > maxNameBytes:
		return &InputError{Field: field, Detail: fmt.Sprintf("the file name %.40q… has %d bytes: at most %d", name, len(name), maxNameBytes)}
	case !fs.ValidPath(name) || name == "." || strings.ContainsRune(name, 0):
		return &InputError{Field: field, Detail: fmt.Sprintf("%q is no file name below the workspace: it must be relative, without . and .., and valid UTF-8", name)}
	case strings.Count(name, "/") >= maxParts:
		return &InputError{Field: field, Detail: fmt.Sprintf("the file name %.40q… has more than %d parts", name, maxParts)}
	case slices.ContainsFunc(strings.Split(name, "/"), tooLong):
		return &InputError{Field: field, Detail: fmt.Sprintf("a part of the file name %.40q… has more than %d bytes", name, maxPartBytes)}
	}
	return nil
}

// inputs are the request's files and the plan's.
func (r *run) inputs() map[string]InputFile {
	files := map[string]InputFile{}
	maps.Copy(files, r.req.Files)
	for name, content := range r.plan.Files {
		old := files[name] // keeps the executable bit
		files[name] = InputFile{Content: content, Executable: old.Executable}
	}
	return files
}

// fillWorkspace writes the inputs.
func (r *run) fillWorkspace(tree sandbox.FileTree) error {
	files := r.inputs()
	if hook := r.imports.hook; hook != nil {
		for name, content := range hook.Files {
			files[name] = InputFile{Content: content}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		mode := fs.FileMode(0o644)
		if files[name].Executable {
			mode = 0o755
		}
		if err := tree.WriteFile(name, bytes.NewReader(files[name].Content), mode); err != nil {
			return fmt.Errorf("write %s to the workspace: %w", name, err)
		}
		fault.Point("file written")
	}
	r.filled = time.Now()
	return nil
}

// source is what the language plans with.
func (r *run) source() language.Source {
	src := language.Source{Code: r.req.Code, Entry: r.req.Entry, Args: r.req.Args, Check: r.check}
	if len(r.req.Files) > 0 {
		src.Files = make(map[string][]byte, len(r.req.Files))
		for name, f := range r.req.Files {
			src.Files[name] = f.Content
		}
	}
	if dir := r.req.Dir; dir != "" && path.Clean(dir) != sandbox.WorkspaceDir {
		src.Dir = r.workdir()
	}
	return src
}

// workdir is the absolute working directory of the run phase.
func (r *run) workdir() string {
	if path.IsAbs(r.req.Dir) {
		return path.Clean(r.req.Dir)
	}
	return path.Join(sandbox.WorkspaceDir, r.req.Dir)
}

// searchPath is the PATH that a toolchain asks for, or the usual one.
func searchPath(env []string) string {
	for _, kv := range env {
		if search, ok := strings.CutPrefix(kv, "PATH="); ok && search != "" {
			return search
		}
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// environment is exactly what the contract lists, then what the command needs,
// then what the request gives, the later winning.
func (r *run) environment(step language.Step, requested map[string]string) []string {
	search := searchPath(r.toolchain.Env)
	if dir := path.Dir(r.toolchain.Program); dir != "." && !strings.Contains(":"+search+":", ":"+dir+":") {
		search = dir + ":" + search
	}
	env := map[string]string{
		"HOME":   sandbox.WorkspaceDir,
		"USER":   sandbox.UserName,
		"LANG":   "C.UTF-8",
		"TMPDIR": sandbox.TempDir,
		"TZ":     "UTC",
	}
	for _, list := range [][]string{r.toolchain.Env, {"PATH=" + search}, step.Env} {
		for _, kv := range list {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
	}
	maps.Copy(env, requested)
	out := make([]string, 0, len(env))
	for _, k := range slices.Sorted(maps.Keys(env)) {
		out = append(out, k+"="+env[k])
	}
	return out
}
