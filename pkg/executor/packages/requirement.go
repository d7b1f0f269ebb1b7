package packages

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// Bounds of what one request may require.
const (
	MaxRequirements = 256
	maxLength       = 1024
)

// Requirement is one package as PEP 508 writes it, without the direct references
// and pip's options: what it means does not depend on where it is read.
type Requirement struct {
	// Name is normalised (PEP 503), Extras are too, in order and without repeats.
	Name   string
	Extras []string
	// Specifiers are the version clauses in order, such as >=2.1.
	Specifiers []string
	// Marker is the condition after the semicolon, or empty.
	Marker string
}

// String is the requirement in canonical form: equal ones are written alike.
func (r Requirement) String() string {
	var b strings.Builder
	b.WriteString(r.Name)
	if len(r.Extras) > 0 {
		fmt.Fprintf(&b, "[%s]", strings.Join(r.Extras, ","))
	}
	b.WriteString(strings.Join(r.Specifiers, ","))
	if r.Marker != "" {
		b.WriteString(" ; " + r.Marker)
	}
	return b.String()
}

// ListError says which entry of a list is wrong; Index is -1 for the list itself.
type ListError struct {
	Index  int
	Detail string
}

func (e *ListError) Error() string { return e.Detail }

// ParseAll reads a list. The result is sorted and holds nothing twice. Its error
// is a [*ListError].
func ParseAll(list []string) ([]Requirement, error) {
	if len(list) > MaxRequirements {
		return nil, &ListError{-1, fmt.Sprintf("%d requirements are too many: at most %d", len(list), MaxRequirements)}
	}
	var all []Requirement
	for i, text := range list {
		r, err := Parse(text)
		if err != nil {
			return nil, &ListError{i, err.Error()}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Requirement) int { return strings.Compare(a.String(), b.String()) })
	return slices.CompactFunc(all, func(a, b Requirement) bool { return a.String() == b.String() }), nil
}

// Parse reads one requirement, such as
//
//	requests
//	requests[socks] >=2.31, <3 ; python_version < "3.13"
//
// Everything else that pip would read in a file of requirements is refused:
// options, paths, addresses, other files, comments, environment variables.
func Parse(text string) (Requirement, error) {
	if fault.Off("door", "requirements") {
		return Requirement{Name: text}, nil
	}
	if err := refuse(text); err != nil {
		return Requirement{}, err
	}
	s := scanner{text: text}
	r, err := s.requirement()
	if err != nil {
		return Requirement{}, fmt.Errorf("%s is not a requirement: %w; write NAME, NAME==VERSION or NAME>=VERSION", quote(text), err)
	}
	return r, nil
}

// refuse names what is legal to pip and not to us, so that the answer is of what
// was meant and not of the character that does not fit.
func refuse(text string) error {
	trimmed := strings.TrimSpace(text)
	name, after, _ := strings.Cut(trimmed, "@")
	path, _, _ := strings.Cut(name, ";") // a marker may hold a slash
	switch {
	case len(text) > maxLength:
		return fmt.Errorf("the requirement %s… has %d bytes: at most %d", quote(text[:40]), len(text), maxLength)
	case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r > '~' }):
		return fmt.Errorf("the requirement %s holds a character that none has: only printable ASCII in one line", quote(text))
	case trimmed == "":
		return errors.New("the requirement is empty: name a package")
	case trimmed[0] == '-':
		return fmt.Errorf("%s is an option, and requirements are packages only; the operator chooses the index (SANDBOX_PYTHON_INDEX)", quote(text))
	case strings.Contains(trimmed, " -"), strings.Contains(trimmed, "\t-"):
		return fmt.Errorf("%s has an option behind the package, and requirements are packages only", quote(text))
	case strings.Contains(trimmed, "$"):
		return fmt.Errorf("%s holds a $: no environment variable is put into a requirement", quote(text))
	case strings.Contains(trimmed, "#"):
		return fmt.Errorf("%s holds a comment or fragment: leave out what follows the #", quote(text))
	case strings.HasSuffix(trimmed, `\`):
		return fmt.Errorf("%s is continued on another line: write each requirement in one", quote(text))
	case strings.Contains(trimmed, "://"), strings.Contains(after, "file:"):
		return fmt.Errorf("%s names an address: packages come from the index only, by name", quote(text))
	case trimmed[0] == '.', strings.ContainsAny(path, `/\`):
		return fmt.Errorf("%s is a path: packages come from the index only; send your own modules as files", quote(text))
	}
	return nil
}

func quote(text string) string { return fmt.Sprintf("%.120q", text) }

// scanner reads the grammar of PEP 508 from left to right.
type scanner struct {
	text string
	pos  int
}

var (
	identifier = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?`)
	operator   = lazyregexp.New(`^(?:===|~=|==|!=|<=|>=|<|>)`)
	// version is PEP 440's, in all its spellings.
	version  = lazyregexp.New(`^(?i)v?(?:\d+!)?\d+(?:\.\d+)*(?:[-_.]?(?:alpha|beta|preview|pre|rc|a|b|c)[-_.]?\d*)?(?:-\d+|[-_.]?(?:post|rev|r)[-_.]?\d*)?(?:[-_.]?dev[-_.]?\d*)?(?:\+[a-z0-9]+(?:[-_.][a-z0-9]+)*)?(?:\.\*)?$`)
	literal  = lazyregexp.New(`^[A-Za-z0-9.+!_-]+$`)
	separate = lazyregexp.New(`[-_.]+`)
)

// Normalise is the one spelling of a package's name (PEP 503).
func Normalise(name string) string {
	return strings.ToLower(separate().ReplaceAllString(name, "-"))
}

func (s *scanner) requirement() (r Requirement, err error) {
	name := s.match(identifier())
	if name == "" {
		return r, errors.New("it does not begin with the name of a package")
	}
	r.Name = Normalise(name)
	if s.take("[") {
		if r.Extras, err = s.extras(); err != nil {
			return r, err
		}
	}
	if s.take("@") {
		return r, errors.New("it has an address after @, and packages come from the index only")
	}
	parenthesis := s.take("(")
	if r.Specifiers, err = s.specifiers(); err != nil {
		return r, err
	}
	if parenthesis && !s.take(")") {
		return r, errors.New("a parenthesis is not closed")
	}
	if s.take(";") {
		m := marker{scanner: s}
		if r.Marker, err = m.or(0); err != nil {
			return r, err
		}
	}
	if rest := s.rest(); rest != "" {
		return r, fmt.Errorf("%s does not belong there", quote(rest))
	}
	return r, nil
}

// extras reads what is between brackets; the first one is taken.
func (s *scanner) extras() (extras []string, err error) {
	for !s.take("]") {
		if len(extras) > 0 && !s.take(",") {
			return nil, errors.New("a bracket is not closed")
		}
		name := s.match(identifier())
		if name == "" {
			return nil, errors.New("an extra has no name")
		}
		extras = append(extras, Normalise(name))
	}
	slices.Sort(extras)
	return slices.Compact(extras), nil
}

// specifiers reads version clauses, separated by commas.
func (s *scanner) specifiers() (clauses []string, err error) {
	for {
		op := s.match(operator())
		if op == "" && len(clauses) == 0 {
			return nil, nil
		}
		if op == "" {
			return nil, errors.New("a version clause is missing after the comma")
		}
		v := s.until(",;) \t")
		if err := checkVersion(op, v); err != nil {
			return nil, err
		}
		clauses = append(clauses, op+strings.ToLower(v))
		if !s.take(",") {
			slices.Sort(clauses)
			return slices.Compact(clauses), nil
		}
	}
}

func checkVersion(op, v string) error {
	switch {
	case v == "":
		return fmt.Errorf("there is no version after %s", op)
	case op == "===" && literal().MatchString(v):
		return nil
	case op == "===", !version().MatchString(v):
		return fmt.Errorf("%s is not a version", quote(v))
	case strings.HasSuffix(v, ".*") && op != "==" && op != "!=":
		return fmt.Errorf("%s takes no .*", op)
	}
	return nil
}

func (s *scanner) space() {
	s.pos = len(s.text) - len(strings.TrimLeft(s.text[s.pos:], " \t"))
}

// rest is what was not read yet.
func (s *scanner) rest() string {
	s.space()
	return s.text[s.pos:]
}

// take reads a word if it comes next.
func (s *scanner) take(word string) bool {
	_, found := strings.CutPrefix(s.rest(), word)
	if found {
		s.pos += len(word)
	}
	return found
}

// quoted reads up to a quote, spaces included.
func (s *scanner) quoted(quote string) (content string, closed bool) {
	content, _, closed = strings.Cut(s.text[s.pos:], quote)
	if closed {
		s.pos += len(content) + len(quote)
	}
	return content, closed
}

// match reads what fits, or nothing.
func (s *scanner) match(re *regexp.Regexp) string {
	found := re.FindString(s.rest())
	s.pos += len(found)
	return found
}

// until reads up to one of the characters.
func (s *scanner) until(stops string) string {
	rest := s.rest()
	if end := strings.IndexAny(rest, stops); end >= 0 {
		rest = rest[:end]
	}
	s.pos += len(rest)
	return rest
}
