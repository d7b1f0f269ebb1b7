package language

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// maxCargoFiles bounds the walk through cargo's output. A program is near the
// top of it; what lies deeper are the parts that it was built from.
const maxCargoFiles = 50_000

// cargoProject is a directory with a Cargo.toml.
type cargoProject struct {
	dir   string
	files map[string][]byte
	entry string // the wanted program's source or directory; empty for the default one
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

// mayScript finds in a Cargo.toml what may be a build script or macros that are programs.
var mayScript = lazyregexp.New(`build|proc[-_]macro|\\`)

// scripted tells whether cargo may run a program of the project's own while it builds: a build
// script, macros, or what the settings of its directory name.
func (p cargoProject) scripted() bool {
	for name, content := range p.files {
		switch base := path.Base(name); {
		case base == "build.rs", path.Base(path.Dir(name)) == ".cargo":
			return true
		case base == "Cargo.toml" && mayScript().Match(content):
			return true
		}
	}
	return false
}

// selection tells cargo which program to build: the one that the entry belongs
// to, else all of them.
func (p cargoProject) selection() []string {
	if name := p.entryName(); name != "" {
		return []string{"--bin", name}
	}
	return nil
}

// entrySource is the entry, or the main.rs of an entry that is a directory.
func (p cargoProject) entrySource() string {
	if _, isFile := p.files[p.entry]; p.entry == "" || isFile {
		return p.entry
	}
	return path.Join(p.entry, "main.rs")
}

// isMain tells whether the entry is the source of the package's own program.
func (p cargoProject) isMain() bool {
	return p.entrySource() == path.Join(p.dir, "src/main.rs")
}

// entryName is the name that cargo gives to the program of the entry: that of the
// [[bin]] with its path, else by the layout, of src/bin/NAME.rs or src/bin/NAME/main.rs.
func (p cargoProject) entryName() string {
	source := p.entrySource()
	if _, isFile := p.files[source]; !isFile {
		return ""
	}
	for bin := range manifestTables(p.manifest(), "bin", "name", "path") {
		if bin["path"] != "" && path.Join(p.dir, bin["path"]) == source {
			return bin["name"]
		}
	}
	name, ok := strings.CutPrefix(source, path.Join(p.dir, "src/bin")+"/")
	if !ok {
		return ""
	}
	name, isDir := strings.CutSuffix(name, "/main.rs")
	if !isDir {
		name, ok = strings.CutSuffix(name, ".rs")
	}
	if !ok || strings.Contains(name, "/") { // a module of a program
		return ""
	}
	return name
}

// wanted are the names of the program to run, the likeliest first. Of several [[bin]]
// cargo takes none unasked.
func (p cargoProject) wanted() []string {
	name := manifestValue(p.manifest(), "package", "name")
	switch {
	case p.isMain():
		return []string{p.entryName(), name}
	case p.entry != "":
		return []string{p.entryName()}
	}
	names := []string{manifestValue(p.manifest(), "package", "default-run"), name}
	bins, bin := 0, ""
	for table := range manifestTables(p.manifest(), "bin", "name") {
		bins, bin = bins+1, table["name"]
	}
	if bins == 1 {
		names = append(names, bin)
	}
	return names
}

// binary finds the program that cargo built: of several the one that the entry,
// default-run or the package names. The path is relative to the build directory.
func (p cargoProject) binary(tree sandbox.FileTree) (string, error) {
	programs, err := cargoPrograms(tree)
	if err != nil {
		return "", err
	}
	var names []string
	for _, program := range programs {
		names = append(names, path.Base(program))
	}
	for _, name := range p.wanted() {
		if i := slices.Index(names, name); name != "" && i >= 0 {
			return programs[i], nil
		}
	}
	switch {
	case len(programs) == 0:
		return "", NothingToRun("the project has no program: it needs src/main.rs, or a source below src/bin")
	case p.entry != "" && !p.isMain():
		return "", NothingToRun(fmt.Sprintf("the entry %s is the main file of none of the project's programs (%s)", p.entry, strings.Join(names, ", ")))
	case len(programs) == 1:
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
// Cargo.toml: the first one.
func manifestValue(manifest []byte, table, key string) string {
	for values := range manifestTables(manifest, table, key) {
		if value, ok := values[key]; ok {
			return value
		}
	}
	return ""
}

// manifestTables reads the strings of some keys of a table, or of each of a list of
// tables, of a Cargo.toml; what is no string is an empty one. It knows the plain form
// of TOML that people and cargo write; what it does not understand only leaves the
// choice of a program to the user. (A library reads it all, and takes memory that grows
// with the square of a key's length, in the server, for whoever sends one.) A manifest has room for very many tables: the map
// is the next one's, too.
func manifestTables(manifest []byte, table string, keys ...string) iter.Seq[map[string]string] {
	return func(yield func(map[string]string) bool) {
		current, values := "", map[string]string{}
		for line := range tomlLines(manifest) {
			if strings.HasPrefix(line, "[") {
				if current == table && !yield(values) {
					return
				}
				header, _, _ := strings.Cut(line, "#")
				current = strings.Trim(header, "[] \t")
				clear(values)
				continue
			}
			name, value, ok := strings.Cut(line, "=")
			name = strings.TrimSpace(name)
			_, known := values[name] // the first counts
			if ok && current == table && !known && slices.Contains(keys, name) {
				values[name] = tomlString(strings.TrimSpace(value))
			}
		}
		if current == table {
			yield(values)
		}
	}
}

// tomlLines are the lines that do not begin in a text of several.
func tomlLines(manifest []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		inText := false
		for line := range strings.Lines(string(manifest)) {
			line = strings.TrimSpace(line)
			if !inText && !yield(line) {
				return
			}
			if (strings.Count(line, `"""`)+strings.Count(line, "'''"))%2 == 1 {
				inText = !inText
			}
		}
	}
}

// tomlString is what stands between quotes. TOML allows no NUL there, which no
// command line could have.
func tomlString(value string) string {
	if value == "" || value[0] != '"' && value[0] != '\'' || strings.Contains(value, "\x00") {
		return ""
	}
	value, _, _ = strings.Cut(value[1:], value[:1])
	return value
}
