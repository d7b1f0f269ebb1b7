package language

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const (
	// SelfPath is where a container has this program itself, read-only, when
	// the compile step of a plan starts it.
	SelfPath = "/opt/sandbox-run/sandbox-run"
	// EsbuildCommand is the first argument that makes this program the
	// TypeScript compiler; the others are those of package esbuild.
	EsbuildCommand = "__esbuild"
)

// typescript compiles with esbuild and runs with Node. The compiler runs in
// the container, since what it reads is as little trusted as what it makes.
// Types are removed, not checked.
type typescript struct{}

func newTypeScript() Language { return typescript{} }

func (typescript) Info() Info {
	return Info{
		Name:       "typescript",
		Title:      "TypeScript",
		Aliases:    []string{"ts"},
		Extensions: []string{".ts", ".tsx", ".mts", ".cts"},
		Shebangs:   []string{"ts-node", "tsx"},
		Entries:    []string{"main.ts", "main.tsx", "main.mts", "main.cts", "index.ts", "index.tsx", "index.mts", "index.cts"},
		Install:    nodeInstall,
		Elsewhere:  nodeElsewhere,

		LeastMemoryBytes: 24 << 20,
	}
}

// Find looks for Node; the compiler is built in.
func (typescript) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	return findNode(ctx, host, "typescript")
}

// Plan bundles the entry and what it imports into one file in the build
// directory. Stack traces name the sources, by a source map.
func (t typescript) Plan(tc Toolchain, src Source, res Resources) (Plan, error) {
	files := sourceFiles(src, "main.ts")
	if src.Code != nil && src.Entry == "" {
		src.Entry = "main.ts"
	}
	entry, err := entryFile(t.Info(), withoutDeclarations(files), src.Entry)
	if err != nil {
		return Plan{}, err
	}
	compile := Step{Args: []string{SelfPath, EsbuildCommand,
		"--commonjs=" + path.Join(sandbox.BuildDir, bundleCommonJS),
		"--module=" + path.Join(sandbox.BuildDir, bundleModule),
		"--target=node" + tc.Version,
		path.Join(sandbox.WorkspaceDir, entry),
	}}
	return Plan{
		Files:   files,
		Mounts:  hideNodePackages(tc),
		Compile: &compile,
		Run: func(build sandbox.FileTree) (Step, error) {
			bundle, err := bundlePath(build)
			if err != nil {
				return Step{}, err
			}
			flags := append(heapFlags(res), "--enable-source-maps")
			return Step{Args: slices.Concat([]string{tc.Program}, flags, []string{bundle}, src.Args)}, nil
		},
	}, nil
}

// withoutDeclarations leaves out *.d.ts, which hold no program.
func withoutDeclarations(files map[string][]byte) map[string][]byte {
	sources := make(map[string][]byte, len(files))
	for name, content := range files {
		if !strings.HasSuffix(name, ".d.ts") && !strings.HasSuffix(name, ".d.mts") && !strings.HasSuffix(name, ".d.cts") {
			sources[name] = content
		}
	}
	return sources
}

// The names of the bundle. The compiler writes one of them; by its extension
// Node knows how to load it.
const (
	bundleCommonJS = "main.cjs"
	bundleModule   = "main.mjs"
)

// bundlePath is where the compiler put the bundle.
func bundlePath(build sandbox.FileTree) (string, error) {
	for _, name := range []string{bundleCommonJS, bundleModule} {
		file, err := build.Open(name)
		if err == nil {
			return path.Join(sandbox.BuildDir, name), file.Close()
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
	}
	return "", NothingToRun("the TypeScript compiler made no program")
}

// Diagnose quotes the compiler's first error, or what Node says.
func (typescript) Diagnose(phase, stderr string) Diagnosis {
	if phase != "compile" {
		return diagnoseNode(stderr)
	}
	d := Diagnosis{Reason: shorten(firstLine(stderr)), DiskFull: diskFull(stderr)}
	for line := range strings.Lines(stderr) {
		if strings.Contains(line, ": error: ") {
			d.Reason = shorten(line)
			break
		}
	}
	return d
}
