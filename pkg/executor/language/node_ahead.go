package language

import (
	"bytes"
	"embed"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

//go:embed node_ahead.cjs
var nodeAheadSource []byte

//go:embed node_near/*.so
var nodeNear embed.FS

// nearHeap is a library for the host's Node that has its heap lie together (node_near/near.c), or
// nil where there is none for this architecture or a Node is given others.
func nearHeap(tc Toolchain) []byte {
	if tc.inImage() || tc.sets("LD_PRELOAD") {
		return nil
	}
	return ownNear()
}

// ownNear is that of this architecture, read once and not for each request.
var ownNear = sync.OnceValue(func() []byte {
	library, _ := nodeNear.ReadFile("node_near/near_" + runtime.GOARCH + ".so")
	return library
})

// mayHaveThreads tells whether a program may have threads with a JavaScript of their own, as
// hooks of modules have (module.register), and packages that an image brings can have: each
// of them would look for what waits, too, which is gone by then.
func mayHaveThreads(tc Toolchain, files map[string][]byte) bool {
	for _, content := range files {
		if bytes.Contains(content, []byte("worker_threads")) || moduleBuiltin().Match(content) || tc.inImage() && namesPackages(content) {
			return true
		}
	}
	return false
}

// moduleBuiltin finds what may name Node's own module of that name, and specifiers what names
// a module.
var (
	moduleBuiltin = lazyregexp.New(`(?:\(|\bfrom|\bimport)\s*['"\x60](?:node:)?module['"\x60]`)
	specifiers    = lazyregexp.New(`(?:\brequire\s*\(|\bfrom|\bimport\s*\(?)\s*['"\x60]([^'"\x60]*)['"\x60]`)
)

// namesPackages tells whether a source may load a module that is neither Node's own nor a file
// of its own.
func namesPackages(source []byte) bool {
	found := specifiers().FindAllSubmatch(source, maxImports)
	return len(found) == maxImports || slices.ContainsFunc(found, func(m [][]byte) bool {
		builtin, own := bytes.CutPrefix(m[1], []byte("node:"))
		return !own && !bytes.HasPrefix(m[1], []byte(".")) && !slices.Contains(nodeBuiltins, string(builtin))
	})
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

// namedBuiltins are those of them that a source names. What is found wrongly is loaded for nothing.
func namedBuiltins(source []byte) []string {
	var named []string
	for _, m := range specifiers().FindAllSubmatch(source, maxImports) {
		if name := strings.TrimPrefix(string(m[1]), "node:"); slices.Contains(nodeBuiltins, name) && !slices.Contains(named, name) {
			named = append(named, name)
		}
	}
	slices.Sort(named)
	return named
}

// nodeRehearsal is what every program does. V8 gives its heap back when it ends, so it is to be looked at
// before that.
const nodeRehearsal = "console.log('hello');\nprocess.on('exit', () => process.kill(process.pid, 'SIGALRM'));\n"

// nodeAhead is a Node that waits where it loads modules before the program (--require). It
// finds out about the program afterwards: what it is called, and whether it is an ES
// module.
func nodeAhead(tc Toolchain, command []string, main string, src Source, source []byte) []Ahead {
	const hook, near = aheadDir + "/ahead.cjs", aheadDir + "/near.so"
	require := []string{"--require", path.Join(sandbox.WorkspaceDir, hook)}
	var ancestry *sandbox.Ancestry
	if !tc.inImage() {
		ancestry = &sandbox.Ancestry{Library: aheadDir + "/ancestor.so", ByName: true, HasRings: compareVersions(tc.Version, "21") >= 0,
			Rehearsal: map[string][]byte{path.Base(main): []byte(nodeRehearsal)}}
	}
	var env []string
	library := nearHeap(tc)
	if library != nil {
		env = []string{"LD_PRELOAD=" + path.Join(sandbox.WorkspaceDir, near)}
	}
	ahead := func(builtins []string) Ahead {
		files := map[string][]byte{hook: fmt.Appendf(nil, "'use strict';\nconst BUILTINS = '%s'.split(' ');\n%s", strings.Join(builtins, " "), nodeAheadSource)}
		if library != nil {
			files[near] = library
		}
		return Ahead{
			Step:     Step{Args: slices.Concat(command, require, []string{main}), Env: env},
			Files:    files,
			Ancestor: ancestry,
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
