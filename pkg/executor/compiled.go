package executor

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// recall finds out whether the same was compiled before: the same sources, with the same
// toolchain and flags, for the same tenant.
func (r *run) recall() {
	if r.plan.Compile == nil || r.plan.Scripted || r.e.artefacts == nil || r.check || r.packages != nil || r.img.Elsewhere || !r.img.IsZero() && r.img.Digest == "" {
		return
	}
	if r.report(api.PhaseCompile) != nil { // it is the compiler that says what is imported
		return
	}
	key, err := hashKey(r.compiledOf())
	if err != nil {
		return // nothing is kept of what has no name
	}
	r.compiledKey = key
	if !r.req.Recompile {
		r.reused = r.e.artefacts.get(key)
	}
}

// compiledOf is all that makes a compiler's work differ from other work.
func (r *run) compiledOf() any {
	type input struct {
		Sum        [sha256.Size]byte
		Executable bool
	}
	files := map[string]input{}
	for name, f := range r.inputs() {
		files[name] = input{sha256.Sum256(f.Content), f.Executable}
	}
	caches := make([]string, 0, len(r.plan.Caches))
	for _, c := range r.plan.Caches {
		caches = append(caches, c.Key)
	}
	programs := []string{r.identity(r.toolchain.Program), r.identity(r.toolchain.Compiler), r.identity(r.plan.Compile.Args[0])}
	if r.plan.Compile.Args[0] == language.SelfPath {
		self, err := os.Executable()
		programs = append(programs, r.identity(self), fmt.Sprint(err))
	}
	return struct {
		Format                         int
		Architecture, Tenant, Runtime  string
		Level                          sandbox.Level
		Image, Language, Version, Path string
		Programs, Caches               []string
		Step                           language.Step
		Files                          map[string]input
	}{
		1, runtime.GOARCH, r.req.Tenant, r.e.runtime.Name(), r.req.Isolation,
		r.img.String(), r.toolchain.Language, r.toolchain.Version, r.toolchain.Program,
		programs, caches, *r.plan.Compile, files,
	}
}

// identity tells a program of this host from another that is put in its place.
func (r *run) identity(program string) string {
	if !r.img.IsZero() || !filepath.IsAbs(program) {
		return program
	}
	info, err := os.Stat(program)
	if err != nil {
		return program
	}
	return fmt.Sprintf("%s %d %d", program, info.Size(), info.ModTime().UnixNano())
}

// bring puts what was compiled before in the place of the compile phase, which the result
// shows as it was then but for its figures. It tells whether it has.
func (r *run) bring() (bool, error) {
	made := r.reused
	most := r.ceiling()
	if !r.keepable() || most > 0 && int64(max(len(made.Stdout), len(made.Stderr))) > most {
		r.reused = nil
		return false, nil
	}
	if err := r.unpack(made); err != nil {
		return false, fmt.Errorf("bring what was compiled before: %w", err)
	}
	ph, ok := r.beginPhase(api.PhaseCompile, r.input(api.PhaseCompile))
	if !ok {
		return true, nil
	}
	ph.started, ph.verdict.status = true, api.StatusOK
	_, errOut := ph.stdout.Write(made.Stdout)
	_, errErr := ph.stderr.Write(made.Stderr)
	if errors.Join(errOut, errErr, ph.stdout.flush(), ph.stderr.flush()) != nil {
		ph.verdict = verdict{status: api.StatusCancelled, message: messageCancelled}
	}
	made.Files = nil // which are in the container
	r.compiled = ph
	return true, nil
}

// keepable tells whether what is compiled in the run's container is the same as in another:
// without walls of its own, a compiler sees directories that are one container's.
func (r *run) keepable() bool { return r.container.Isolation().Level == sandbox.LevelFull }

func (r *run) unpack(made *artefact) error {
	build, err := r.container.Files(sandbox.BuildDir)
	for _, f := range made.Files {
		if err != nil {
			break
		}
		if f.Dir {
			err = build.MkdirAll(f.Path)
			continue
		}
		mode := os.FileMode(0o644)
		if f.Executable {
			mode = 0o755
		}
		err = build.WriteFile(f.Path, bytes.NewReader(f.Content), mode)
	}
	return err
}

// errNotKept is what a compiler has made and is not kept.
var errNotKept = errors.New("not kept")

// maxKeptNames is how many files and directories are kept of a compiler: a server opens each
// of them beside the time limits of a run.
const maxKeptNames = 2000

// remember reads what the compiler has made, before the program can reach it. It is kept
// when the run is over, since that takes time.
func (r *run) remember(ctx context.Context, ph *phase) {
	if r.compiledKey == "" || !r.keepable() || !r.untouched(ctx) {
		return
	}
	build, err := r.container.Files(sandbox.BuildDir)
	if err != nil {
		return
	}
	made := &artefact{}
	left := r.e.artefacts.largest()
	err = build.Walk(maxKeptNames+1, func(info sandbox.FileInfo) error {
		if len(made.Files) == maxKeptNames || ctx.Err() != nil {
			return errNotKept
		}
		f := madeFile{Path: info.Path, Dir: info.Mode.IsDir(), Executable: info.Mode&0o100 != 0}
		if f.Dir {
			made.Files = append(made.Files, f)
			return nil
		}
		if left -= info.Size; left < 0 || !info.Mode.IsRegular() {
			return errNotKept
		}
		if err := f.read(build, info); err != nil {
			return err
		}
		made.Files = append(made.Files, f)
		return nil
	})
	if err != nil {
		return
	}
	stdout, exactOut, cutOut := ph.stdout.text()
	stderr, exactErr, cutErr := ph.stderr.text()
	if cutOut || cutErr || exactOut != "" || exactErr != "" {
		return // a compiler that said so much may say it again
	}
	made.Stdout, made.Stderr = []byte(stdout), []byte(stderr)
	r.made = made
}

// untouched tells whether the compiler has left the workspace as it was but for what is no
// result: what it has made there, such as a table that a program reads, is not kept.
func (r *run) untouched(ctx context.Context) bool {
	inputs, leftovers := r.inputs(), newLeftovers(r.plan.Leftovers)
	err := r.workspace.Walk(maxFiles, func(info sandbox.FileInfo) error {
		f, was := inputs[info.Path]
		if ctx.Err() != nil || !info.Mode.IsDir() && !leftovers.match(info.Path) && (!was || info.Size != int64(len(f.Content))) {
			return errNotKept
		}
		return nil
	})
	return err == nil
}

func (f *madeFile) read(tree sandbox.FileTree, info sandbox.FileInfo) error {
	file, err := tree.Open(info.Path)
	if err != nil {
		return err
	}
	defer file.Close()
	f.Content, err = io.ReadAll(io.LimitReader(file, info.Size+1))
	f.Size = int64(len(f.Content))
	if err == nil && f.Size != info.Size {
		err = errNotKept
	}
	return err
}

// keepMade keeps what the compiler has made, for the next of the same. What cannot be kept
// is compiled again.
func (r *run) keepMade() {
	if made := r.made; made != nil {
		r.made = nil
		_ = r.e.artefacts.put(r.compiledKey, made)
	}
}
