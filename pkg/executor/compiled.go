package executor

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// recall finds out whether the same was compiled before: the same sources, with the same
// toolchain and flags, for the same tenant.
func (r *run) recall() {
	if r.plan.Compile == nil || r.e.artefacts == nil || r.check || r.packages != nil || r.img.Elsewhere || !r.img.IsZero() && r.img.Digest == "" {
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
// shows as it was then but for its figures. Where it does not fit, the compiler has to say so.
func (r *run) bring() bool {
	begin := time.Now()
	made := r.reused
	if err := r.unpack(made); err != nil {
		r.reused = nil
		return false
	}
	ph, ok := r.beginPhase(api.PhaseCompile, r.input(api.PhaseCompile))
	if !ok {
		return true // and the run finds out the same
	}
	ph.started, ph.verdict.status = true, api.StatusOK
	_, errOut := ph.stdout.Write(made.Stdout)
	_, errErr := ph.stderr.Write(made.Stderr)
	if errors.Join(errOut, errErr, ph.stdout.flush(), ph.stderr.flush()) != nil {
		ph.verdict = verdict{status: api.StatusCancelled, message: messageCancelled}
	}
	took := time.Since(begin).Seconds()
	ph.metrics = api.Metrics{WallTimeS: &took}
	r.endPhase(ph)
	return true
}

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

// errNotKept is a build directory that holds what is not kept.
var errNotKept = errors.New("not kept")

// remember reads what the compiler has made, before the program can reach it. It is kept
// when the run is over, since that takes time.
func (r *run) remember(ph *phase) {
	if r.compiledKey == "" {
		return
	}
	build, err := r.container.Files(sandbox.BuildDir)
	if err != nil {
		return
	}
	made := &artefact{}
	left := r.e.artefacts.largest()
	err = build.Walk(maxMadeNames, func(info sandbox.FileInfo) error {
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
	if r.made != nil {
		_ = r.e.artefacts.put(r.compiledKey, r.made)
	}
}
