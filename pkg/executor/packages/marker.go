package packages

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// maxNesting bounds the parentheses of a marker.
const maxNesting = 16

// marker reads the condition of a requirement. What it returns has the same
// meaning, with one space between words and double quotes where they can be.
type marker struct{ *scanner }

var (
	word       = lazyregexp.New(`^[a-z_.]+`)
	comparison = lazyregexp.New(`^(?:===|~=|==|!=|<=|>=|<|>|not[ \t]+in\b|in\b)`)
)

// markerNames are the variables of PEP 508.
var markerNames = []string{
	"python_version", "python_full_version", "os_name", "sys_platform", "platform_release", "platform_system",
	"platform_version", "platform_machine", "platform_python_implementation", "implementation_name",
	"implementation_version", "extra",
}

func (m marker) or(depth int) (string, error) { return m.joined("or", depth, m.and) }

func (m marker) and(depth int) (string, error) { return m.joined("and", depth, m.expression) }

// joined reads operands with a word between them.
func (m marker) joined(with string, depth int, operand func(int) (string, error)) (string, error) {
	var parts []string
	for {
		part, err := operand(depth)
		if err != nil {
			return "", err
		}
		parts = append(parts, part)
		if next := word().FindString(m.rest()); next != with {
			return strings.Join(parts, " "+with+" "), nil
		}
		m.take(with)
	}
}

// expression is a comparison, or a condition in parentheses.
func (m marker) expression(depth int) (string, error) {
	if m.take("(") {
		if depth == maxNesting {
			return "", errors.New("the marker has too many parentheses")
		}
		inner, err := m.or(depth + 1)
		if err == nil && !m.take(")") {
			err = errors.New("a parenthesis of the marker is not closed")
		}
		return "(" + inner + ")", err
	}
	left, err := m.value()
	if err != nil {
		return "", err
	}
	op := m.match(comparison())
	if op == "" {
		return "", fmt.Errorf("the marker compares %s with nothing", left)
	}
	right, err := m.value()
	return strings.Join(append([]string{left}, append(strings.Fields(op), right)...), " "), err
}

// value is a variable, or a string in quotes.
func (m marker) value() (string, error) {
	for _, q := range []string{`"`, `'`} {
		if !m.take(q) {
			continue
		}
		content, closed := m.quoted(q)
		if !closed {
			return "", errors.New("a quote of the marker is not closed")
		}
		if strings.ContainsAny(content, "\\\t@") {
			return "", errors.New("a string of the marker holds a backslash, a tab or an @")
		}
		if !strings.Contains(content, `"`) {
			q = `"`
		}
		return q + content + q, nil
	}
	name := m.match(word())
	if !slices.Contains(markerNames, name) {
		return "", fmt.Errorf("the marker tests %s, which is no variable of PEP 508", quote(name))
	}
	return name, nil
}
