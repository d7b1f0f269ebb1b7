package language

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// search is what to look for on a host: programs that have a version.
type search struct {
	Language string
	Title    string
	Names    []string            // on the search path
	Globs    map[string][]string // beside it, by origin
	// Started with Args, a program tells its version, which Pattern finds.
	Args    []string
	Pattern *regexp.Regexp
	// Version, if not nil, finds the version out without starting anything.
	Version func(ctx context.Context, program string) (string, error)
	Oldest  string // the oldest version that works; empty means any
	// Complete adds what belongs to a toolchain beside its program, or says what
	// it lacks; Inside does so for one of an image. They may be nil.
	Complete func(tc *Toolchain) error
	Inside   func(ctx context.Context, h Host, tc *Toolchain) error
}

// anything is a pattern for programs whose version does not matter.
var anything = lazyregexp.New(`^[^\n]{0,80}`)

// find returns what s found, and for each program that will not do the reason.
func (h Host) find(ctx context.Context, s search) ([]Toolchain, []Missing) {
	if h.Image != nil {
		return h.findInside(ctx, s)
	}
	if s.Version == nil {
		s.Version = func(ctx context.Context, program string) (string, error) {
			return h.version(ctx, program, s.Pattern, s.Args...)
		}
	}
	var found []Toolchain
	var missing []Missing
	for c := range h.candidates(s.Language, s.Names, s.Globs) {
		tc, err := h.toolchain(ctx, s, c)
		if err != nil {
			missing = append(missing, Missing{Language: s.Language, Reason: err.Error()})
			continue
		}
		found = append(found, tc)
		if h.enough(tc.Version) {
			return found, missing
		}
	}
	if len(found)+len(missing) == 0 {
		missing = []Missing{{Language: s.Language, Reason: fmt.Sprintf("no program %s was found", strings.Join(s.Names, " or "))}}
	}
	return found, missing
}

// toolchain describes a candidate that will do.
func (h Host) toolchain(ctx context.Context, s search, c candidate) (Toolchain, error) {
	version, err := s.Version(ctx, c.Program)
	if err != nil {
		return Toolchain{}, err
	}
	if err := checkVersion(version); err != nil {
		return Toolchain{}, fmt.Errorf("%s cannot be used: %w", c.Program, err)
	}
	if err := h.check(s, c, version); err != nil {
		return Toolchain{}, err
	}
	tc := Toolchain{
		Language: s.Language,
		Version:  version,
		Program:  c.Program,
		Origin:   c.Origin,
		Mounts:   mountsFor(installation(c.Program)),
	}
	if s.Complete != nil {
		err = s.Complete(&tc)
	}
	return tc, err
}

// installation is the directory above the bin that a program lies in.
func installation(program string) string { return filepath.Dir(filepath.Dir(program)) }

// check refuses a version that is too old, and one that is not what the
// configuration says it is.
func (h Host) check(s search, c candidate, version string) error {
	if tooOld(version, s.Oldest) {
		return fmt.Errorf("%s is %s %s; the oldest that works is %s", c.Program, s.Title, version, s.Oldest)
	}
	if c.Origin != originConfiguration {
		return nil
	}
	for _, key := range h.namedKeys(s.Language) {
		_, want, versioned := strings.Cut(key, "@")
		if versioned && h.namedProgram(h.Named[key]) == c.Program && !versionMatches(version, want) {
			return fmt.Errorf("the configuration names %s as %s, but it is version %s", c.Program, key, version)
		}
	}
	return nil
}

// tooOld tells a version that is older than the oldest that works.
func tooOld(version, oldest string) bool {
	return oldest != "" && compareVersions(version, oldest) < 0 && !versionMatches(version, oldest)
}

// inWorkspace is how a command line names a file of the workspace: as the user
// would, relative to it, unless the program is started elsewhere; and never as an option.
func inWorkspace(src Source, name string) string {
	if src.Dir == "" || src.Dir == sandbox.WorkspaceDir {
		return notOption(name)
	}
	return path.Join(sandbox.WorkspaceDir, name)
}

// entryFile finds the main file among files: the one that the user named, the
// first that the language expects, else the only one with an extension of the
// language.
func entryFile(info Info, files map[string][]byte, entry string) (string, error) {
	if entry != "" {
		clean := path.Clean(entry)
		if _, ok := files[clean]; ok {
			return clean, nil
		}
		return "", fmt.Errorf("the entry %s is not among the files: %s", entry, listFiles(files))
	}
	for _, name := range info.Entries {
		if _, ok := files[name]; ok {
			return name, nil
		}
	}
	var sources []string
	for _, extension := range info.Extensions {
		sources = append(sources, namesWithSuffix(files, extension)...)
	}
	switch len(sources) {
	case 1:
		return sources[0], nil
	case 0:
		return "", fmt.Errorf("no %s source (%s) is among the files: %s", info.Title, strings.Join(info.Extensions, ", "), listFiles(files))
	}
	slices.Sort(sources)
	return "", fmt.Errorf("it is not clear which file to start: call it %s, or name the entry; there are %s",
		info.Entries[0], shorten(strings.Join(sources, ", ")))
}

// listFiles names a few files for an error.
func listFiles(files map[string][]byte) string {
	if len(files) == 0 {
		return "there are none"
	}
	return shorten(strings.Join(namesWithSuffix(files, ""), ", "))
}
