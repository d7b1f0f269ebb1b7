package language

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// python runs source with CPython (or PyPy), exactly as "python3 main.py" does:
// no flag of isolation, so that sys.flags, sys.path and tracebacks are the
// usual ones. Third-party packages are hidden by empty mounts instead.
//
// No flag asks for UTF-8 either. The locale is C.UTF-8; where the host's C
// library does not have it, Python falls back to its UTF-8 mode by itself
// (PEP 538 and PEP 540).
type python struct{}

func newPython() Language { return python{} }

func (python) Info() Info {
	return Info{
		Name:       "python",
		Title:      "Python",
		Aliases:    []string{"py", "python3"},
		Extensions: []string{".py", ".pyw"},
		Shebangs:   []string{"python3", "python"},
		Entries:    []string{"main.py", "__main__.py"},
		Install:    "apt-get install -y python3",
		Elsewhere:  "install Python 3.9 or newer from https://www.python.org/downloads/ or with pyenv or uv",
	}
}

// Find looks for Python 3.9 and later.
func (python) Find(ctx context.Context, host Host) ([]Toolchain, []Missing) {
	return host.find(ctx, search{
		Language: "python",
		Title:    "Python",
		Names:    []string{"python3", "python"},
		Globs: map[string][]string{
			"/usr/bin":       numbered("/usr/bin/python3.", 9, 20),
			"/usr/local/bin": numbered("/usr/local/bin/python3.", 9, 20),
			"/opt":           {"/opt/python*/bin/python3", "/opt/python/*/bin/python3"},
			"pyenv":          {"~/.pyenv/versions/*/bin/python3"},
			"asdf":           {"~/.asdf/installs/python/*/bin/python3"},
			"mise":           {"~/.local/share/mise/installs/python/*/bin/python3"},
			"uv":             {"~/.local/share/uv/python/*/bin/python3"},
		},
		Args:    []string{"--version"},
		Pattern: regexp.MustCompile(`Python (\d+\.\d+\.\d+(?:[a-z]+\d+)?)`),
		Oldest:  "3.9",
		Inside:  pythonInside,
	})
}

// pythonInside finds out where the interpreter of an image lies: environments of
// packages name it by its path.
func pythonInside(ctx context.Context, h Host, tc *Toolchain) error {
	s := search{Args: []string{"-I", "-c", "import sys; print(sys.executable)"}, Pattern: regexp.MustCompile(`(?m)^(/.*)$`)}
	program, err := h.askInside(ctx, s, tc.Program)
	if err == nil {
		tc.Program = program
	}
	return err
}

// numbered lists prefix9, prefix10 and so on. Asking for each name is cheaper
// than reading a directory of thousands to match a pattern.
func numbered(prefix string, from, to int) []string {
	var names []string
	for n := from; n <= to; n++ {
		names = append(names, prefix+strconv.Itoa(n))
	}
	return names
}

// Plan has no compile phase: a compiled module is of no use in a run that
// happens once, and the parser's words come from the run itself.
func (p python) Plan(tc Toolchain, src Source, res Resources) (Plan, error) {
	files := sourceFiles(src, "main.py")
	if src.Code != nil && src.Entry == "" {
		src.Entry = "main.py"
	}
	target, err := p.target(src, files)
	if err != nil {
		return Plan{}, err
	}
	command := slices.Concat([]string{tc.Program}, pythonFlags(tc.Version, res), target)
	step := Step{Args: slices.Concat(command, src.Args)}
	return Plan{
		Files:     files,
		Mounts:    hidePackages(tc),
		Run:       func(sandbox.FileTree) (Step, error) { return step, nil },
		Ahead:     pythonAhead(tc, command, src, files),
		Leftovers: []string{"__pycache__", "*.pyc"},
	}, nil
}

// pythonFlags tell the CPU limit to os.cpu_count, which else counts the host's
// cores, and with it to pools of threads and processes. Before 3.13 there was
// no way to tell.
func pythonFlags(version string, res Resources) []string {
	if res.CPUs <= 0 || compareVersions(version, "3.13.0") < 0 {
		return nil
	}
	return []string{"-X", fmt.Sprintf("cpu_count=%d", wholeCPUs(res.CPUs))}
}

// target is what the command line names: a file, or -m and a module. A package
// is meant by its directory (pkg) or its dotted name (pkg.tool).
func (p python) target(src Source, files map[string][]byte) ([]string, error) {
	module := strings.ReplaceAll(path.Clean(src.Entry), "/", ".")
	switch {
	case src.Entry == "":
		if name, ok := onlyPackage(files); ok {
			return []string{"-m", name}, nil
		}
	case has(files, path.Join(src.Entry, "__main__.py")):
		if module == "." {
			return []string{inWorkspace(src, "__main__.py")}, nil
		}
		return []string{"-m", module}, nil
	case !has(files, path.Clean(src.Entry)) && has(files, strings.ReplaceAll(module, ".", "/")+".py"):
		return []string{"-m", module}, nil
	case hasDir(files, src.Entry):
		return nil, fmt.Errorf("the package %s has no __main__.py, so it cannot be run; add one or name a file", src.Entry)
	}
	name, err := entryFile(p.Info(), files, src.Entry)
	if err != nil {
		return nil, err
	}
	return []string{inWorkspace(src, name)}, nil
}

// onlyPackage is the one package with a __main__.py, in a project that has no
// main file at its top.
func onlyPackage(files map[string][]byte) (string, bool) {
	if has(files, "main.py") || has(files, "__main__.py") {
		return "", false
	}
	mains := namesWithSuffix(files, "/__main__.py")
	mains = slices.DeleteFunc(mains, func(name string) bool { return strings.Count(name, "/") > 1 })
	if len(mains) != 1 {
		return "", false
	}
	return path.Dir(mains[0]), true
}

func has(files map[string][]byte, name string) bool {
	_, ok := files[name]
	return ok
}

func hasDir(files map[string][]byte, dir string) bool {
	for name := range files {
		if strings.HasPrefix(name, path.Clean(dir)+"/") {
			return true
		}
	}
	return false
}

// hidePackages puts empty directories over the host's third-party packages, so
// that import finds the standard library only. sys.path stays as it is.
func hidePackages(tc Toolchain) []sandbox.Mount {
	_, dirs := pythonCode(tc)
	return hide(dirs...)
}

// pythonCode is where an interpreter of the host's has what it runs when it starts: its
// standard library, and its third-party packages.
func pythonCode(tc Toolchain) (library string, packages []string) {
	prefix := filepath.Dir(filepath.Dir(tc.Program))
	parts := strings.SplitN(tc.Version, ".", 3)
	if len(parts) < 3 || tc.inImage() {
		return "", nil
	}
	minor := "python" + parts[0] + "." + parts[1]
	dirs := []string{
		filepath.Join(prefix, "lib", minor, "site-packages"),
		filepath.Join(prefix, "lib64", minor, "site-packages"),
		filepath.Join(prefix, "lib", minor+"t", "site-packages"), // built without the GIL
		filepath.Join(prefix, "lib", "pypy"+parts[0]+"."+parts[1], "site-packages"),
	}
	if prefix == "/usr" { // Debian's own places, and what was installed beside them
		dirs = append(dirs,
			"/usr/lib/python3/dist-packages",
			filepath.Join("/usr/lib", minor, "dist-packages"),
			filepath.Join("/usr/local/lib", minor, "dist-packages"),
			filepath.Join("/usr/local/lib", minor, "site-packages"),
			filepath.Join("/usr/local/lib64", minor, "site-packages"),
		)
	}
	return filepath.Join(prefix, "lib", minor), dirs
}

// hide puts an empty directory over each of dirs that is there, or that cannot be looked at. One
// that is empty may soon hold something, and to look costs each run more than to hide it.
func hide(dirs ...string) []sandbox.Mount {
	var mounts []sandbox.Mount
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err == nil && info.IsDir() || err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			mounts = append(mounts, sandbox.Mount{Target: dir})
		}
	}
	return mounts
}
