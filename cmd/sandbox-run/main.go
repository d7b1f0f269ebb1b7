// Command sandbox-run runs untrusted programs in a sandbox and shows what they
// print, how they ended and what they used. See sandbox-run --help.
package main

import (
	"os"
	"runtime/debug"

	"github.com/sandbox-run/sandbox-run/internal/cli"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language/esbuild"
)

// version is the release, set by the linker (-X main.version=1.2.0).
var version string

func main() {
	// In a container this very binary is the TypeScript compiler; see
	// [language.EsbuildCommand].
	if len(os.Args) > 1 && os.Args[1] == language.EsbuildCommand {
		os.Exit(esbuild.Main(os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	// Most runs are over before garbage matters; past this it is collected.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(64 << 20)
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	var o opener
	defer o.drop()
	return cli.Main(args, os.Stdin, os.Stdout, os.Stderr, cli.Deps{Prepare: o.prepare, Open: o.open, OpenReady: o.openReady, OpenServer: openServer, Reclaim: reclaim, Version: version})
}
