package language

import (
	"bytes"
	_ "embed" // for what waits
	"path"
	"slices"

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

// nodeAhead is a Node that waits where it loads modules before the program (--require). It
// finds out about the program afterwards: what it is called, and whether it is an ES
// module.
func nodeAhead(command []string, main string, src Source) []Ahead {
	const hook = aheadDir + "/ahead.cjs"
	require := []string{"--require", path.Join(sandbox.WorkspaceDir, hook)}
	return []Ahead{{
		Step:     Step{Args: slices.Concat(command, require, []string{main})},
		Files:    map[string][]byte{hook: nodeAheadSource},
		Args:     src.Args,
		Settings: settings("NODE_", "UV_", "SSL_", "OPENSSL_"),
	}}
}
