package language

import (
	"bytes"
	_ "embed" // for what waits
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

//go:embed node_ahead.cjs
var nodeAheadSource []byte

// startsWorkers tells whether a program may have threads with a JavaScript of their own:
// each of them would look for what waits, too, which is gone by then.
func startsWorkers(files map[string][]byte) bool {
	for _, content := range files {
		if bytes.Contains(content, []byte("worker_threads")) {
			return true
		}
	}
	return false
}

// nodeConsole is the module of Node's own that console.log needs for a pipe, and nodeBuiltins are
// others that programs name most. They are the same for whoever requires them, and say
// nothing when they are.
var (
	nodeConsole  = []string{"net"}
	nodeBuiltins = []string{
		"assert", "buffer", "child_process", "crypto", "events", "fs", "fs/promises", "http", "https", "os", "path", "perf_hooks",
		"readline", "string_decoder", "timers/promises", "url", "util", "vm", "zlib",
	}
)

// requires finds what may name them. What it finds wrongly is loaded for nothing.
var requires = regexp.MustCompile(`(?:\brequire\s*\(|\bfrom\b|\bimport\b)\s*\(?\s*['"](?:node:)?([a-z_/]+)['"]`)

// namedBuiltins are those of them that a source names.
func namedBuiltins(source []byte) []string {
	var named []string
	for _, m := range requires.FindAllSubmatch(source, maxImports) {
		if name := string(m[1]); slices.Contains(nodeBuiltins, name) && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	return named
}

// nodeAhead is a Node that waits where it loads modules before the program (--require). It
// finds out about the program afterwards: what it is called, and whether it is an ES
// module.
func nodeAhead(command []string, main string, src Source, source []byte) []Ahead {
	const hook = aheadDir + "/ahead.cjs"
	require := []string{"--require", path.Join(sandbox.WorkspaceDir, hook)}
	ahead := func(builtins []string) Ahead {
		return Ahead{
			Step:     Step{Args: slices.Concat(command, require, []string{main})},
			Files:    map[string][]byte{hook: fmt.Appendf(nil, "'use strict';\nconst BUILTINS = '%s'.split(' ');\n%s", strings.Join(builtins, " "), nodeAheadSource)},
			Args:     src.Args,
			Settings: settings("NODE_", "UV_", "SSL_", "OPENSSL_"),
			Sooner:   true, // for its modules; see node_ahead.cjs
		}
	}
	plainly := []Ahead{ahead(nodeConsole)}
	if named := namedBuiltins(source); len(named) > 0 {
		return append([]Ahead{ahead(slices.Concat(nodeConsole, named))}, plainly...)
	}
	return plainly
}
