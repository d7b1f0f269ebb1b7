package esbuild

import (
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"
)

// imports collects what the sources import, as far as the names are constants.
type imports struct {
	dir string // of the entry

	mu   sync.Mutex // the bundler resolves files in parallel
	seen map[[2]string]bool
}

// plugin watches how imports are resolved, and leaves that to the bundler.
func (i *imports) plugin() api.Plugin {
	return api.Plugin{Name: "imports", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if args.Kind != api.ResolveEntryPoint {
				i.add(args.Path, args.Importer)
			}
			return api.OnResolveResult{}, nil
		})
	}}
}

func (i *imports) add(module, importer string) {
	if name, err := filepath.Rel(i.dir, importer); err == nil {
		importer = filepath.ToSlash(name)
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.seen == nil {
		i.seen = map[[2]string]bool{}
	}
	i.seen[[2]string{module, importer}] = true
}

// report writes one report as a listener of package policy reads it. What the names
// have of its separators would end it, so it is left out.
func (i *imports) report(w io.Writer, nonce string) {
	plain := strings.NewReplacer("\x1d", "", "\x1e", "", "\x1f", "")
	var records []string
	for entry := range maps.Keys(i.seen) {
		records = append(records, plain.Replace(entry[0])+"\x1d"+plain.Replace(entry[1])+"\x1d0")
	}
	slices.Sort(records)
	fmt.Fprintf(w, "\x1e%si%s\x1e\x1e%ss\x1e", nonce, strings.Join(records, "\x1f"), nonce)
}
