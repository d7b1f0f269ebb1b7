package sandbox

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Factory opens runtimes by the names that users select them by. What a name
// opens is the command's business: this package knows no runtime.
type Factory map[string]func() (Runtime, error)

// Open opens the runtime of that name. The error of an unknown name lists the
// valid ones.
func (f Factory) Open(name string) (Runtime, error) {
	open, ok := f[name]
	if !ok {
		return nil, fmt.Errorf("there is no runtime %q: it is one of %s", name, strings.Join(f.Names(), ", "))
	}
	return open()
}

// Names lists the runtimes that can be selected, sorted.
func (f Factory) Names() []string { return slices.Sorted(maps.Keys(f)) }
