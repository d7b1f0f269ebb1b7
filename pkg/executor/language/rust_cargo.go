package language

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// maxCargoFiles bounds the walk through cargo's output. A program is near the
// top of it; what lies deeper are the parts that it was built from.
const maxCargoFiles = 50_000

// cargoProject is a directory with a Cargo.toml.
type cargoProject struct {
	dir   string
	files map[string][]byte
	entry string // the source of the wanted program; empty for the default one
}

// manifest is the project's Cargo.toml.
func (p cargoProject) manifest() []byte {
	return p.files[path.Join(p.dir, "Cargo.toml")]
}

// hasDevProfile tells whether the project or the workspace around it sets its
// own dev profile.
func (p cargoProject) hasDevProfile() bool {
	for name, content := range p.files {
		if path.Base(name) == "Cargo.toml" && strings.Contains(string(content), "[profile.dev") {
			return true
		}
	}
	return false
}

// selection tells cargo which program to build: the one that the entry belongs
// to by cargo's layout, else all of them.
func (p cargoProject) selection() []string {
	if name := p.entryName(); name != "" {
		return []string{"--bin", name}
	}
	return nil
}

// entryName is the name that cargo gives to the program of src/bin/NAME.rs or
// src/bin/NAME/main.rs.
func (p cargoProject) entryName() string {
	rest, ok := strings.CutPrefix(p.entry, path.Join(p.dir, "src/bin")+"/")
	if !ok {
		return ""
	}
	if name, ok := strings.CutSuffix(rest, "/main.rs"); ok {
		return name
	}
	return strings.TrimSuffix(rest, ".rs")
}

// binary finds the program that cargo built: of several the one that the entry,
// default-run or the package names. The path is relative to the build directory.
func (p cargoProject) binary(tree sandbox.FileTree) (string, error) {
	programs, err := cargoPrograms(tree)
	if err != nil {
		return "", err
	}
	wanted := []string{p.entryName(), manifestValue(p.manifest(), "package", "default-run"), manifestValue(p.manifest(), "bin", "name"),
		manifestValue(p.manifest(), "package", "name")}
	var names []string
	for _, program := range programs {
		names = append(names, path.Base(program))
	}
	for _, name := range wanted {
		if i := slices.Index(names, name); name != "" && i >= 0 {
			return programs[i], nil
		}
	}
	switch len(programs) {
	case 0:
		return "", NothingToRun("the project has no program: it needs src/main.rs, or a source below src/bin")
	case 1:
		return programs[0], nil
	}
	return "", NothingToRun(fmt.Sprintf("the project has %d programs (%s): choose one by its main file or directory with --entry",
		len(programs), strings.Join(names, ", ")))
}

// cargoPrograms lists what cargo left in target/debug or target/TRIPLE/debug:
// the executable files without an extension.
func cargoPrograms(tree sandbox.FileTree) ([]string, error) {
	var programs []string
	err := tree.Walk(maxCargoFiles, func(info sandbox.FileInfo) error {
		dir, name := path.Split(info.Path)
		parts := strings.Split(path.Clean(dir), "/")
		isOutput := parts[0] == rustTarget && parts[len(parts)-1] == "debug" && (len(parts) == 2 || len(parts) == 3)
		if isOutput && info.Mode.IsRegular() && info.Mode&0o111 != 0 && !strings.Contains(name, ".") {
			programs = append(programs, info.Path)
		}
		return nil
	})
	slices.Sort(programs)
	return programs, err
}

// manifestValue reads a string from a table, or a list of tables, of a
// Cargo.toml: the first one. It knows the plain form of TOML that people and
// cargo write; what it does not understand only leaves the choice of a program
// to the user.
func manifestValue(manifest []byte, table, key string) string {
	current := ""
	for line := range strings.Lines(string(manifest)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			header, _, _ := strings.Cut(line, "#")
			current = strings.Trim(header, "[] \t")
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || current != table || strings.TrimSpace(name) != key {
			continue
		}
		value = strings.TrimSpace(value)
		if value == "" || value[0] != '"' && value[0] != '\'' {
			return ""
		}
		value, _, _ = strings.Cut(value[1:], value[:1])
		return value
	}
	return ""
}
