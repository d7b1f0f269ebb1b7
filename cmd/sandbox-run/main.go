// Command sandbox-run runs untrusted programs in a sandbox and shows what they
// print, how they ended and what they used. See sandbox-run --help.
package main

import (
	"os"

	"github.com/sandbox-run/sandbox-run/internal/cli"
)

// version is the release, set by the linker (-X main.version=1.2.0).
var version string

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, cli.Deps{Open: openEngine, Version: version}))
}
