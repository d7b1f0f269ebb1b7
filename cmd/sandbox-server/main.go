// Command sandbox-server runs untrusted programs for callers over HTTP. It is
// configured by SANDBOX_* variables; see docs/SERVER.md.
package main

import (
	"os"

	"github.com/sandbox-run/sandbox-run/internal/daemon"
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
	c := daemon.Command{Stdout: os.Stdout, Stderr: os.Stderr, Environ: os.Environ(), Version: version}
	os.Exit(c.Main(os.Args[1:]))
}
