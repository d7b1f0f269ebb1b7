package cli

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"
)

// build is what this binary was made of.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Modified bool   `json:"modified"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// version prints what this binary was made of.
func (a *app) version(args []string) (int, error) {
	f := listFlags{}
	help, err := a.parseVerb("version", &f, args)
	if err != nil || help {
		return exitOK, err
	}
	b := readBuild(a.deps.Version)
	if f.JSON {
		return exitOK, a.printJSON(b)
	}
	changed := ""
	if b.Modified {
		changed = ", modified"
	}
	return exitOK, a.print(fmt.Sprintf("sandbox-run %s (commit %s%s, %s, %s)\n", b.Version, b.Commit, changed, b.Go, b.Platform))
}

// readBuild reads what the Go toolchain recorded. The release, if the binary
// is one, was set by its linker.
func readBuild(release string) build {
	b := build{Version: release, Commit: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		b.Version = cmp.Or(b.Version, "unknown")
		return b
	}
	b.Version = cmp.Or(b.Version, info.Main.Version, "unknown")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
