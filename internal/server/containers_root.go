package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// root is what a container has for its root: an image of this server's runtime, or a
// toolchain of this host, which looks like an image from afar.
type root struct {
	sandbox.Image
	mounts []sandbox.Mount
	// language and version are as resolved here, for the audit.
	language, version string
}

// systemPath is where the programs of a host are.
var systemPath = []string{"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"}

// programsDir is where a container finds a toolchain's programs by their plain names
// when the host has them by others.
const programsDir = "/programs"

// rootOf finds it. What is wrong is an [*sandbox.ImageError].
func (s *Server) rootOf(ctx context.Context, spec sandbox.Spec) (root, error) {
	if err := s.allowedImage(spec.Image); err != nil {
		return root{}, err
	}
	if !isWord(spec.Language) || !isWord(spec.Version) {
		return root{}, &sandbox.ImageError{Ref: "for a language", Err: errors.New("its name and its version have at most 64 bytes each, all of them to be seen"), Mend: "Name one that there is"}
	}
	img, err := s.Runtime.Image(ctx, spec)
	if err != nil || !img.IsZero() {
		return root{Image: img, language: spec.Language, version: spec.Version}, err
	}
	if spec.Language == "" {
		return s.hostRoot(language.Toolchain{}), nil
	}
	tc, err := s.toolchain(ctx, spec)
	if err != nil {
		return root{}, &sandbox.ImageError{Ref: "for " + spec.Language + " on " + s.Containers.Node, Err: err, Mend: "Install it there, or name another server"}
	}
	r := s.hostRoot(tc)
	return r, s.addPrograms(&r, tc)
}

// isWord tells whether a line of the audit can hold something.
func isWord(text string) bool {
	return len(text) <= 64 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// toolchain chooses one of this host.
func (s *Server) toolchain(ctx context.Context, spec sandbox.Spec) (language.Toolchain, error) {
	name := spec.Language
	if spec.Version != "" {
		name += "@" + spec.Version
	}
	lang, version, err := language.Lookup(name)
	if err != nil {
		return language.Toolchain{}, err
	}
	host := s.Containers.Config.Host
	host.Want = &version
	host.Cache = &s.versions
	found, missing := lang.Find(ctx, host)
	if ctx.Err() != nil {
		return language.Toolchain{}, context.Cause(ctx)
	}
	if len(found) == 0 {
		reason := "it is not installed"
		if len(missing) > 0 {
			reason = missing[0].Reason
		}
		return language.Toolchain{}, errors.New(reason)
	}
	tc, err := language.Select(found, version)
	if err != nil {
		return tc, err
	}
	tc.Mounts = append(slices.Clone(tc.Mounts), hidden(lang, tc)...)
	return tc, nil
}

// hidden are the empty directories over this host's packages for the language: the
// far host's are as little a program's as the near one's would be.
func hidden(lang language.Language, tc language.Toolchain) []sandbox.Mount {
	const anything = 512 << 20
	plan, err := lang.Plan(tc, language.Source{Code: []byte("\n")}, language.Resources{MemoryBytes: anything, CPUs: 1, CompileMemoryBytes: anything, CompileCPUs: 1})
	if err != nil {
		return nil // it has nothing to hide from a source that it needs to know
	}
	return slices.DeleteFunc(plan.Mounts, func(m sandbox.Mount) bool { return m.Source != "" })
}

// hostRoot is a toolchain as an image: its programs come first on PATH.
func (s *Server) hostRoot(tc language.Toolchain) root {
	var dirs []string
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s\x00%s\x00%q\x00%+v\x00", s.Version, tc.Language, tc.Version, tc.Env, tc.Mounts)
	for _, program := range []string{tc.Program, tc.Compiler} {
		if program == "" {
			continue
		}
		if dir := filepath.Dir(program); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
		fmt.Fprintf(sum, "%s\x00", program)
		if info, err := os.Stat(program); err == nil { // a package that was upgraded in its place
			fmt.Fprintf(sum, "%d %d\x00", info.Size(), info.ModTime().UnixNano())
		}
	}
	dirs = append(dirs, slices.DeleteFunc(slices.Clone(systemPath), func(dir string) bool { return slices.Contains(dirs, dir) })...)
	return root{
		Image: sandbox.Image{
			Name: "host:" + s.Containers.Node, Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)),
			Env: append([]string{"PATH=" + strings.Join(dirs, ":")}, tc.Env...),
		},
		mounts: slices.Clone(tc.Mounts), language: tc.Language, version: tc.Version,
	}
}

// plainNames are what programs of a toolchain are started by, the first that of
// its Program, the second of its Compiler.
var plainNames = map[string][2]string{
	"python": {"python3"}, "javascript": {"node"}, "typescript": {"node"}, "go": {"go"},
	"java": {"java", "javac"}, "rust": {"rustc", "cargo"},
}

// addPrograms makes sure that the plain names lead to the programs of the toolchain,
// and not to those of another version beside it.
func (s *Server) addPrograms(r *root, tc language.Toolchain) error {
	path, _ := strings.CutPrefix(r.Env[0], "PATH=")
	links := map[string]string{}
	for i, program := range []string{tc.Program, tc.Compiler} {
		name := plainNames[tc.Language][i]
		if name != "" && program != "" && !leadsTo(strings.Split(path, ":"), name, program) {
			links[name] = program
		}
	}
	if len(links) == 0 {
		return nil
	}
	dir, err := s.Containers.Kept.Links(links)
	if err != nil {
		return fmt.Errorf("name the programs of %s %s: %w", tc.Language, tc.Version, err)
	}
	r.mounts = append(r.mounts, sandbox.Mount{Source: dir, Target: programsDir})
	r.Env[0] = "PATH=" + programsDir + ":" + path
	return nil
}

// leadsTo tells whether a name on a path is the program.
func leadsTo(dirs []string, name, program string) bool {
	want, err := os.Stat(program)
	if err != nil {
		return false
	}
	for _, dir := range dirs {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && !info.IsDir() {
			return os.SameFile(info, want)
		}
	}
	return false
}

// planned is the root of a container that was planned with an image of a digest.
func (s *Server) planned(ctx context.Context, spec sandbox.Spec, digest string) (root, error) {
	r, err := s.rootOf(ctx, spec)
	if err == nil && digest != "" && digest != r.Digest {
		err = &tunnel.Elsewhere{Reason: fmt.Sprintf("it has another toolchain for %s than the run was planned with", cmp.Or(spec.Language, spec.Image, "programs"))}
	}
	return r, err
}

// versionCache remembers the versions of programs.
type versionCache struct{ known sync.Map }

// Get implements [language.Cache].
func (c *versionCache) Get(key string) (string, bool) {
	v, ok := c.known.Load(key)
	text, _ := v.(string)
	return text, ok
}

// Put implements [language.Cache].
func (c *versionCache) Put(key, value string) { c.known.Store(key, value) }

// keepProblem says why something is not kept.
func keepProblem(err error) error {
	switch {
	case errors.Is(err, kept.ErrFull):
		return &refusal{Problem: api.Problem{Type: wire.TypeCapacity, Status: http.StatusTooManyRequests, Detail: err.Error()}, retryAfter: keepAgain}
	case errors.Is(err, kept.ErrArchive), errors.Is(err, kept.ErrName):
		return wire.Invalid(api.ProblemError{Detail: err.Error()})
	}
	return err
}
