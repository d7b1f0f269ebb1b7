package language

import (
	"bufio"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shimSize is more than the largest shim script: those of asdf grow by a line
// for each installed version.
const shimSize = 16 << 10

// resolve finds the real program behind a path, without starting anything. Its
// origin is PATH, or the version manager whose shim the path was. A path that
// is no program, or a shim that leads to none, is not ok.
//
// A shim is recognised by what it is, not by where it is:
//
//	pyenv, rbenv, nodenv …  a script that ends in: exec "…/libexec/pyenv" exec "$program" "$@"
//	asdf                    a script with lines: # asdf-plugin: python 3.12.1
//	mise                    a link to the program mise
//	rustup                  a link, symbolic or hard, to the program rustup
func (h Host) resolve(path string) (program, origin string, ok bool) {
	if err := executable(path); err != nil { // first: most paths do not exist, and this is one call
		h.note(err)
		return "", "", false
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		h.note(err)
		return "", "", false
	}
	name := filepath.Base(path)
	switch filepath.Base(real) {
	case "mise":
		if name == "mise" {
			return real, originPath, true
		}
		program, ok = h.miseProgram(filepath.Dir(filepath.Dir(path)), name)
		return program, "mise", ok
	case "ccache", "distcc", "snap", "volta-shim":
		return "", "", false // wrappers that do not work without their own surroundings
	case "busybox", "toybox", "clang":
		dir, err := filepath.EvalSymlinks(filepath.Dir(path))
		return filepath.Join(dir, name), originPath, err == nil
	}
	if isRustupProxy(real, name) {
		program, ok = h.rustupProgram(name)
		return program, "rustup", ok
	}
	if manager, root, ok := envShim(real); ok {
		program, ok = h.envProgram(manager, root, name)
		return program, manager, ok
	}
	if plugin, versions, ok := asdfShim(real); ok {
		program, ok = h.asdfProgram(filepath.Dir(filepath.Dir(real)), plugin, versions, name)
		return program, "asdf", ok
	}
	return real, originPath, true
}

// executable says why a path is no program.
func executable(path string) error {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = fs.ErrPermission
	}
	return err
}

// firstProgram is the first of paths that is a program, by its real path.
func firstProgram(paths ...string) (string, bool) {
	for _, path := range paths {
		if executable(path) != nil {
			continue
		}
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real, true
		}
	}
	return "", false
}

// isRustupProxy tells whether a program is rustup under another name. Older
// rustups make hard links, newer ones symbolic ones.
func isRustupProxy(real, name string) bool {
	if name == "rustup" || name == "rustup-init" {
		return false
	}
	if base := filepath.Base(real); base == "rustup" || base == "rustup-init" {
		return true
	}
	rustup, err := os.Stat(filepath.Join(filepath.Dir(real), "rustup"))
	if err != nil {
		return false
	}
	proxy, err := os.Stat(real)
	return err == nil && os.SameFile(rustup, proxy)
}

// rustupProgram finds a program of the toolchain that rustup would choose
// outside of any project: RUSTUP_TOOLCHAIN, then the default, then the newest.
func (h Host) rustupProgram(name string) (string, bool) {
	root := h.getenv("RUSTUP_HOME")
	if root == "" {
		root = filepath.Join(h.Home, ".rustup")
	}
	toolchains := filepath.Join(root, "toolchains")
	chosen := []string{h.getenv("RUSTUP_TOOLCHAIN"), tomlValue(filepath.Join(root, "settings.toml"), "", "default_toolchain")}
	return h.chosenProgram(toolchains, chosen, filepath.Join("bin", name))
}

// envShim recognises a shim of pyenv and its kin (rbenv, nodenv, goenv, plenv)
// and returns the manager's name and root directory.
func envShim(path string) (manager, root string, ok bool) {
	if filepath.Base(filepath.Dir(path)) != "shims" {
		return "", "", false
	}
	for _, line := range scriptLines(path) {
		rest, isExec := strings.CutPrefix(line, "exec ")
		if !isExec {
			continue
		}
		fields := strings.Fields(strings.ReplaceAll(rest, `"`, ""))
		if len(fields) > 1 && fields[1] == "exec" && strings.HasSuffix(fields[0], "env") {
			// …/libexec/pyenv or …/bin/pyenv; the shims know their own root.
			return filepath.Base(fields[0]), envRoot(path, fields[0]), true
		}
	}
	return "", "", false
}

// envRoot is the directory that holds versions: beside the shims, or, for shims
// of a plugin, where the manager itself is.
func envRoot(shim, manager string) string {
	root := filepath.Dir(filepath.Dir(shim))
	if _, err := os.Stat(filepath.Join(root, "versions")); err == nil {
		return root
	}
	return filepath.Dir(filepath.Dir(manager))
}

// envProgram finds a program of the version that the manager would choose
// outside of any project: its variable (PYENV_VERSION), the version file in its
// root, then the newest. Both name several, by colon or by line.
func (h Host) envProgram(manager, root, name string) (string, bool) {
	chosen := strings.Split(h.getenv(strings.ToUpper(manager)+"_VERSION"), ":")
	if global, err := os.ReadFile(filepath.Join(root, "version")); err == nil {
		chosen = append(chosen, strings.Fields(string(global))...)
	}
	return h.chosenProgram(filepath.Join(root, "versions"), chosen, filepath.Join("bin", name))
}

// asdfShim recognises a shim of asdf and returns the plugin and the versions
// that have the program.
func asdfShim(path string) (plugin string, versions []string, ok bool) {
	if filepath.Base(filepath.Dir(path)) != "shims" {
		return "", nil, false
	}
	for _, line := range scriptLines(path) {
		rest, found := strings.CutPrefix(line, "# asdf-plugin: ")
		if fields := strings.Fields(rest); found && len(fields) == 2 {
			plugin, versions = fields[0], append(versions, fields[1])
		}
	}
	return plugin, versions, plugin != ""
}

// asdfProgram finds a program of the version that asdf would choose outside of
// any project: ASDF_<PLUGIN>_VERSION, ~/.tool-versions, then the newest that
// the shim lists.
func (h Host) asdfProgram(root, plugin string, versions []string, name string) (string, bool) {
	chosen := append(strings.Fields(h.getenv("ASDF_"+strings.ToUpper(plugin)+"_VERSION")), h.toolVersions(plugin)...)
	slices.SortFunc(versions, func(a, b string) int { return compareVersions(b, a) })
	chosen = append(chosen, versions...)
	return h.chosenProgram(filepath.Join(root, "installs", plugin), chosen, installedPaths(name)...)
}

// miseProgram finds a program of the version that mise would choose outside of
// any project: MISE_<TOOL>_VERSION, its configuration, ~/.tool-versions, then
// the newest. The shim does not say which tool it belongs to; the installed
// programs do.
func (h Host) miseProgram(root, name string) (string, bool) {
	tools, _ := filepath.Glob(filepath.Join(root, "installs", "*"))
	for _, dir := range tools {
		tool := filepath.Base(dir)
		chosen := append(strings.Fields(h.getenv("MISE_"+strings.ToUpper(tool)+"_VERSION")),
			tomlValue(filepath.Join(h.Home, ".config/mise/config.toml"), "tools", tool))
		chosen = append(chosen, h.toolVersions(tool)...)
		if program, ok := h.chosenProgram(dir, chosen, installedPaths(name)...); ok {
			return program, true
		}
	}
	return "", false
}

// installedPaths are where the plugins of asdf and mise put a program; the one
// for Go keeps the folder of the archive.
func installedPaths(name string) []string {
	return []string{filepath.Join("bin", name), filepath.Join("go/bin", name)}
}

// chosenProgram finds one of paths below dir/<version>: of the first of the
// chosen versions that is installed, by name or by the beginning of its name
// (pyenv's 3.12 is the newest 3.12.x, rustup's stable is stable-x86_64-…), else
// of the newest that has it. The choice "system" is passed over: the system's
// own program is found further down the search path.
func (h Host) chosenProgram(dir string, chosen []string, paths ...string) (string, bool) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", false
	}
	installed := make([]string, len(entries))
	for i, e := range entries {
		installed[i] = e.Name()
	}
	slices.SortFunc(installed, func(a, b string) int { return compareVersions(b, a) })
	var order []string
	for _, want := range chosen {
		if want == "system" {
			return "", false
		}
		for _, version := range installed {
			if want != "" && (versionMatches(version, want) || strings.HasPrefix(version, want+"-")) {
				order = append(order, version)
			}
		}
	}
	for _, version := range append(order, installed...) {
		for _, path := range paths {
			if program, ok := firstProgram(filepath.Join(dir, version, path)); ok {
				return program, true
			}
		}
	}
	return "", false
}

// toolVersions are the versions that ~/.tool-versions gives a plugin.
func (h Host) toolVersions(plugin string) []string {
	for _, line := range fileLines(filepath.Join(h.Home, ".tool-versions")) {
		line, _, _ = strings.Cut(line, "#")
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == plugin {
			return fields[1:]
		}
	}
	return nil
}

// getenv reads a variable of the caller's environment, if h may.
func (h Host) getenv(name string) string {
	if h.Getenv == nil {
		return ""
	}
	return h.Getenv(name)
}

// tomlValue reads one string (or the first of a list of strings) from a table
// of a TOML file; the table "" is the top. It understands what version managers
// write, no more; what it does not understand is no choice.
func tomlValue(file, table, key string) string {
	current := ""
	for _, line := range fileLines(file) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			current = strings.Trim(line, "[] ")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || current != table || strings.Trim(name, ` "'`) != key {
			continue
		}
		quoted := strings.FieldsFunc(value, func(r rune) bool { return r == '"' || r == '\'' })
		if len(quoted) > 1 {
			return quoted[1]
		}
	}
	return ""
}

// scriptLines are the lines of a script, or none if the file starts with
// anything but #!.
func scriptLines(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	start := make([]byte, shimSize)
	n, _ := file.Read(start)
	if n < 2 || string(start[:2]) != "#!" {
		return nil
	}
	return strings.Split(string(start[:n]), "\n")
}

// fileLines are the lines of a small text file; none if it cannot be read.
func fileLines(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close()
	var lines []string
	for scan := bufio.NewScanner(file); scan.Scan(); {
		lines = append(lines, scan.Text())
	}
	return lines
}
