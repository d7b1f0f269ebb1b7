package language

import (
	"debug/elf"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// smallCrate is a source, in bytes, that is compiled sooner in one unit than in the sixteen
// that rustc divides a crate into by default, and makes them known to one another again.
const smallCrate = 16 << 10

// crateName is the name that a source gives its crate, on a line without comments. Where
// the name is given both there and to rustc, they must be the same.
var crateName = lazyregexp.New(`(?m)^[^/"\n]*#!\s*\[\s*crate_name\s*=\s*"([\pL\pN_]+)"`)

// rustcArgs is the command that compiles a crate without a project, up to its source.
func rustcArgs(tc Toolchain, files map[string][]byte, entry string) []string {
	name := "main" // whatever the file is called
	if own := crateName().FindSubmatch(files[entry]); own != nil {
		name = string(own[1])
	}
	args := []string{
		tc.Program, "--edition", rustEdition, "--crate-name", name,
		"-C", "opt-level=2", "-C", "debug-assertions=on", "-C", "strip=debuginfo", "-o", rustBinary,
	}
	size := 0
	for _, name := range namesWithSuffix(files, ".rs") {
		size += len(files[name])
	}
	if size <= smallCrate {
		args = append(args, "-C", "codegen-units=1")
	}
	if dir := rustLibrary(tc); dir != "" && !wantsStaticLibrary(files) {
		args = append(args, "-C", "prefer-dynamic", "-C", "link-arg=-Wl,-rpath,"+dir)
	}
	return args
}

// rustLibrary is the directory of the standard library as a shared one, with which a
// program is linked in a third of the time; empty where there is none.
func rustLibrary(tc Toolchain) string {
	if tc.inImage() {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(installation(tc.Program), "lib/rustlib/*-linux-gnu/lib/libstd-*.so"))
	if len(found) != 1 { // several targets, or versions
		return ""
	}
	library, err := elf.Open(found[0])
	if err != nil {
		return ""
	}
	defer library.Close()
	if library.Section(".symtab") == nil { // a backtrace would name nothing
		return ""
	}
	return filepath.Dir(found[0])
}

// staticLibrary is what a program may say that links otherwise than most do: with an
// allocator of its own, which a shared library would not use, without a library, or with
// symbols that other code finds.
var staticLibrary = lazyregexp.New(`\b(global_allocator|no_std|no_main|no_mangle|export_name|link|link_section|crate_type|feature)\b|\bextern\s+crate\b`)

func wantsStaticLibrary(files map[string][]byte) bool {
	for _, content := range files { // which a source may include, whatever they are called
		if staticLibrary().Match(content) {
			return true
		}
	}
	return false
}

// otherFiles is what a source says that has rustc look for others beside it.
var otherFiles = lazyregexp.New(`\bmod\s+[$\w#]+\s*;|\binclude|\bpath\s*=`)

// rustAhead is rustc as it waits for its source, which it then reads from its standard
// input, and calls by its name all the same.
func rustAhead(tc Toolchain, files map[string][]byte, entry string) []Ahead {
	source := files[entry]
	if tc.inImage() || len(files) != 1 || entry != path.Base(entry) || len(source) > sandbox.MaxWork || !utf8.Valid(source) || otherFiles().Match(source) {
		return nil
	}
	const input = "/dev/stdin"
	return []Ahead{{
		Step:  Step{Args: append(rustcArgs(tc, files, entry), "--remap-path-prefix", input+"="+entry, "--", input)},
		Input: append([]byte{}, source...), // not nil, whatever it is
	}}
}
