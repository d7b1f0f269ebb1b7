package executor

import (
	"fmt"
	"path"
	"strings"
)

// Bounds of the globs of a request. They are matched by us, after the run, with names that
// the program has made.
const (
	maxGlobs     = 256
	maxGlobBytes = maxPath
	// maxGlobSteps bounds what all of them together may take with all names, as
	// [globPart.steps] counts: a second of CPU time.
	maxGlobSteps = 1 << 28
)

// checkCollect refuses globs that no path needs.
func checkCollect(req Request) error {
	if n := len(req.Collect); n > maxGlobs {
		return &InputError{Field: "/collect", Detail: fmt.Sprintf("%d globs are too many: at most %d", n, maxGlobs)}
	}
	for i, glob := range req.Collect {
		if len(glob) > maxGlobBytes {
			return &InputError{Field: fmt.Sprintf("/collect/%d", i), Detail: fmt.Sprintf("the glob %.40q… has %d bytes: at most %d", glob, len(glob), maxGlobBytes)}
		}
	}
	return nil
}

// globs match paths, until they have taken too many steps.
type globs struct {
	all  [][]globPart
	left int      // steps
	name []string // the elements of a path; kept for the next one
}

// newGlobs reads globs: ** stands for any number of directories, all else is
// [path.Match]'s. One that names a directory means everything below it.
func newGlobs(patterns []string) *globs {
	g := &globs{left: maxGlobSteps}
	for _, pattern := range patterns {
		var parts []globPart
		for part := range strings.SplitSeq(path.Clean(pattern), "/") {
			parts = append(parts, newGlobPart(part))
		}
		g.all = append(g.all, parts)
	}
	return g
}

// newLeftovers reads patterns of which those without a slash are for any element of a path.
func newLeftovers(patterns []string) *globs {
	var anywhere []string
	for _, pattern := range patterns {
		if !strings.Contains(pattern, "/") {
			pattern = "**/" + pattern
		}
		anywhere = append(anywhere, pattern)
	}
	return newGlobs(anywhere)
}

// match tells whether one of them matches a path. A no is worth nothing when they are spent
// after it.
func (g *globs) match(name string) bool {
	if g.spent() {
		return false
	}
	g.name = g.name[:0]
	for element := range strings.SplitSeq(name, "/") {
		g.name = append(g.name, element)
	}
	for _, glob := range g.all {
		if g.matchParts(glob, g.name) {
			return true
		}
	}
	return false
}

// spent tells that the steps were too few.
func (g *globs) spent() bool { return g.left < 0 }

// matchParts goes back to the last ** alone, so that no element of a glob is held against
// one of a name twice.
func (g *globs) matchParts(glob []globPart, name []string) bool {
	retry, from := -1, 0 // where glob and name go on when the last ** takes one more
	for i, n := 0, 0; i < len(glob) && !g.spent(); {
		switch {
		case glob[i].text == "**":
			g.left--
			i++
			retry, from = i, n
		case n < len(name) && g.matchPart(glob[i], name[n]):
			i, n = i+1, n+1
		case retry >= 0 && from < len(name):
			from++
			i, n = retry, from
		default:
			return false
		}
	}
	return !g.spent() // what is left of name lies below what the glob names
}

func (g *globs) matchPart(part globPart, name string) bool {
	g.left -= part.steps(name)
	return part.match(name)
}

// globPart is an element of a glob.
type globPart struct {
	text string
	star int  // the place of its only *, or -1
	rest bool // there is more in it, for [path.Match] to read
}

func newGlobPart(text string) globPart {
	star := strings.IndexByte(text, '*')
	return globPart{text: text, star: star, rest: strings.ContainsAny(text, `?[\`) || star != strings.LastIndexByte(text, '*')}
}

func (p globPart) match(name string) bool {
	switch {
	case p.rest:
		ok, err := path.Match(p.text, name)
		return err == nil && ok
	case p.star < 0:
		return name == p.text
	}
	rest, begins := strings.CutPrefix(name, p.text[:p.star])
	return begins && strings.HasSuffix(rest, p.text[p.star+1:])
}

// steps is the most that match can take, in bytes of a pattern that are looked at: up to
// three nanoseconds each. [path.Match] reads what is between two * at each place of a name,
// to its end.
func (p globPart) steps(name string) int {
	if p.rest {
		return len(p.text) * (len(name) + 1)
	}
	return 4
}
