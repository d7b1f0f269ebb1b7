package language

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// rustLanguage builds with rustc or, where there is a Cargo.toml, with cargo.
type rustLanguage struct{}

func newRust() Language { return rustLanguage{} }

func (rustLanguage) Info() Info {
	return Info{
		Name:       "rust",
		Title:      "Rust",
		Aliases:    []string{"rs"},
		Extensions: []string{".rs"},
		Shebangs:   []string{"rustc", "cargo"},
		Entries:    []string{"main.rs", "src/main.rs"},
		Install:    "apt-get install -y rustc cargo gcc libc6-dev",
		Elsewhere:  "install rustup from https://rustup.rs/, and a C compiler to link with",
	}
}

// rustDirs are where toolchains are, beside PATH.
func rustDirs() map[string][]string {
	return map[string][]string{
		"rustup":   {"~/.rustup/toolchains/*/bin/rustc"},
		"/usr/lib": {"/usr/lib/rust-*/bin/rustc"},
		"asdf":     {"~/.asdf/installs/rust/*/bin/rustc", "~/.asdf/installs/rust/*/toolchains/*/bin/rustc"},
		"mise":     {"~/.local/share/mise/installs/rust/*/bin/rustc"},
	}
}

var rustcVersion = lazyregexp.New(`rustc (\d\S*)`)

// Find looks for rustc itself, never the proxy of rustup. Without a linker
// nothing can be built, and the reason says so.
func (rustLanguage) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	linker := host.Image == nil && hasLinker(host)
	return host.find(ctx, search{
		Language: "rust",
		Title:    "rustc",
		Names:    []string{"rustc"},
		Globs:    rustDirs(),
		Args:     []string{"--version"},
		Pattern:  rustcVersion(),
		Complete: func(tc *Toolchain) error {
			if !linker {
				return fmt.Errorf("rustc %s (%s) is here, but there is no cc for it to link with: apt-get install -y gcc libc6-dev", tc.Version, tc.Origin)
			}
			tc.Compiler, _ = firstProgram(filepath.Join(installation(tc.Program), "bin/cargo"))
			return nil
		},
		Inside: rustInside,
	})
}

// rustInside looks for what belongs to rustc in an image.
func rustInside(ctx context.Context, h Host, tc *Toolchain) error {
	if !h.hasInside(ctx, "cc") {
		return fmt.Errorf("the image %s has rustc %s, but no cc for it to link with", h.Image.Name, tc.Version)
	}
	if h.hasInside(ctx, "cargo") {
		tc.Compiler = "cargo"
	}
	return nil
}

// hasLinker tells whether the system has a cc. Only one in the system's own
// directories is in the container, with the C library's start files.
func hasLinker(host Host) bool {
	for _, dir := range slices.Concat([]string{"/usr/bin", "/bin"}, host.Path) {
		if _, ok := firstProgram(filepath.Join(dir, "cc")); ok && isSystemDir(dir) {
			return true
		}
	}
	return false
}

const (
	rustBinary = sandbox.BuildDir + "/main"
	rustTarget = "target" // below the build directory
)

// rustEdition is that of sources without a project.
const rustEdition = "2021"

// Plan builds as cargo run would, with overflow checks and debug assertions,
// since a program that silently wraps around is not what people expect to see;
// but optimised, which costs little for small programs and gains much. Debug
// information, which only debuggers read, is left out.
func (rustLanguage) Plan(tc Toolchain, src Source, res Resources) (Plan, error) {
	files := sourceFiles(src, "main.rs")
	if len(namesWithSuffix(files, ".rs")) == 0 {
		return Plan{}, errors.New("there is no Rust source: give at least one .rs file")
	}
	entry, project, err := rustEntry(files, src)
	if err != nil {
		return Plan{}, err
	}
	plan := Plan{Files: files, Mounts: tc.Mounts, Leftovers: []string{"target"}}
	if project != nil {
		return cargoPlan(plan, tc, *project, src, res)
	}
	plan.CompileAhead = rustAhead(tc, files, entry)
	plan.Compile = &Step{Args: append(rustcArgs(tc, files, entry), "--", notOption(entry))} // rustc reads @file as arguments even here
	plan.Run = func(sandbox.FileTree) (Step, error) {
		return Step{Args: append([]string{rustBinary}, src.Args...)}, nil
	}
	return plan, nil
}

// rustEntry finds the root of the crate, or the project that cargo builds.
func rustEntry(files map[string][]byte, src Source) (entry string, project *cargoProject, err error) {
	if src.Code != nil {
		return "main.rs", nil, nil
	}
	entry = path.Clean(src.Entry)
	_, isFile := files[entry]
	manifest := entry
	if isFile {
		manifest = path.Dir(entry)
	}
	if dir, ok := nearestDir(files, manifest, "Cargo.toml"); ok {
		project = &cargoProject{dir: dir, files: files}
		if entry != dir && entry != path.Join(dir, "Cargo.toml") {
			project.entry = entry
		}
		return "", project, nil
	}
	if src.Entry != "" {
		if !isFile {
			return "", nil, fmt.Errorf("the entry %s is neither a file nor a directory with a Cargo.toml", src.Entry)
		}
		return entry, nil, nil
	}
	entry, err = conventionalRustEntry(files)
	return entry, nil, err
}

// conventionalRustEntry is main.rs, src/main.rs or the only source.
func conventionalRustEntry(files map[string][]byte) (string, error) {
	for _, name := range []string{"main.rs", "src/main.rs"} {
		if _, ok := files[name]; ok {
			return name, nil
		}
	}
	names := namesWithSuffix(files, ".rs")
	if len(names) == 1 {
		return names[0], nil
	}
	return "", fmt.Errorf("there is no main.rs among %s: choose the main file with --entry", strings.Join(names, ", "))
}

// cargoPlan builds a project. The settings replace those of its dev profile,
// unless it has its own.
func cargoPlan(plan Plan, tc Toolchain, project cargoProject, src Source, res Resources) (Plan, error) {
	if tc.Compiler == "" {
		return Plan{}, fmt.Errorf("%s is a project for cargo, which rustc %s does not have beside it: apt-get install -y cargo",
			path.Join(project.dir, "Cargo.toml"), tc.Version)
	}
	env := []string{
		"CARGO_HOME=" + sandbox.BuildDir + "/cargo",
		"CARGO_TARGET_DIR=" + sandbox.BuildDir + "/" + rustTarget,
		"CARGO_BUILD_JOBS=" + strconv.Itoa(wholeCPUs(res.CompileCPUs)),
		"CARGO_INCREMENTAL=0",
		"RUSTC=" + tc.Program,
	}
	if !project.hasDevProfile() {
		env = append(env, "CARGO_PROFILE_DEV_OPT_LEVEL=2", "CARGO_PROFILE_DEV_DEBUG=0", "CARGO_PROFILE_DEV_STRIP=debuginfo")
	}
	plan.Leftovers, plan.Scripted = append(plan.Leftovers, "Cargo.lock"), project.scripted()
	plan.Compile = &Step{
		Args: append([]string{tc.Compiler, "build", "--offline", "--quiet"}, project.selection()...),
		Env:  env,
		Dir:  path.Join(sandbox.WorkspaceDir, project.dir),
	}
	plan.Run = func(tree sandbox.FileTree) (Step, error) {
		binary, err := project.binary(tree)
		if err != nil {
			return Step{}, err
		}
		return Step{Args: append([]string{path.Join(sandbox.BuildDir, binary)}, src.Args...)}, nil
	}
	return plan, nil
}
