package policy

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Mode says what becomes of a program that imports what is blocked.
type Mode string

// The modes, the laxest first.
const (
	Off   Mode = "off"   // nothing is looked at
	Warn  Mode = "warn"  // it is in the result, and the program runs
	Block Mode = "block" // the program does not run, or ends where it imports
)

// ParseMode reads a mode.
func ParseMode(text string) (Mode, error) {
	if mode := Mode(text); mode.strictness() >= 0 {
		return mode, nil
	}
	return "", fmt.Errorf("%q is no import policy: off, warn or block", text)
}

func (m Mode) strictness() int { return slices.Index([]Mode{Off, Warn, Block}, m) }

// LaxerThan tells whether m lets pass what other does not.
func (m Mode) LaxerThan(other Mode) bool { return m.strictness() < other.strictness() }

// Rule is one module that should not be imported, with all below it.
type Rule struct {
	// Language is the one that the module is of; empty means all.
	Language string
	Module   string
}

// separators are what stands between the parts of a module's name.
var separators = map[string]string{"python": ".", "go": "/", "javascript": "/", "typescript": "/", "rust": "::", "java": "."}

// Knows tells whether the imports of a language can be found.
func Knows(language string) bool { return separators[language] != "" }

// DefaultRules are the modules that reach for processes, files, sockets and raw
// memory.
func DefaultRules() []Rule {
	var rules []Rule
	for _, list := range []struct{ language, modules string }{
		{"python", "os subprocess shutil socket pathlib"},
		{"go", "os net syscall unsafe plugin C io/ioutil golang.org/x/sys"},
		{"javascript", "child_process cluster dgram dns fs http http2 https inspector net os tls vm worker_threads"},
		{"rust", "std::fs std::net std::os std::process libc"},
		{"java", "java.io.File java.io.FileInputStream java.io.FileOutputStream java.io.FileReader java.io.FileWriter java.io.RandomAccessFile " +
			"java.lang.Process java.lang.ProcessBuilder java.lang.Runtime java.net java.nio.channels java.nio.file javax.net sun.misc.Unsafe"},
	} {
		for module := range strings.FieldsSeq(list.modules) {
			rules = append(rules, Rule{list.language, module})
		}
	}
	return rules
}

// ParseRules reads modules with commas between: os, python:requests. A module
// without a language is one of every language. A list that begins with + adds to
// the default one, another takes its place.
func ParseRules(text string) ([]Rule, error) {
	rules := []Rule{}
	if rest, more := strings.CutPrefix(text, "+"); more {
		text, rules = rest, DefaultRules()
	}
	for entry := range strings.SplitSeq(text, ",") {
		rule, err := ParseRule(strings.TrimSpace(entry))
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	return rules, nil
}

// maxModule bounds the name of a module, in bytes.
const maxModule = 256

// ParseRule reads one module, with or without a language before it.
func ParseRule(text string) (Rule, error) {
	rule := Rule{Module: text}
	if language, module, ok := strings.Cut(text, ":"); ok && Knows(language) {
		rule = Rule{language, module}
	}
	strange := func(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"'`\\,;*", r) }
	if rule.Module == "" || len(rule.Module) > maxModule || strings.ContainsFunc(rule.Module, strange) {
		return rule, fmt.Errorf("%.80q is no name of a module: write one such as subprocess, or go:os/exec for one language alone", text)
	}
	return rule, nil
}

// List is what is blocked in one language.
type List struct {
	separator string
	modules   map[string]bool
	// parents are the modules that rules are about a part of, however deep.
	parents map[string]bool
}

// NewList has those of rules that are about a language.
func NewList(language string, rules []Rule) List {
	l := List{separators[language], map[string]bool{}, map[string]bool{}}
	for _, r := range rules {
		ours := r.Language == "" || r.Language == language || r.Language == "javascript" && language == "typescript"
		if !ours {
			continue
		}
		module := strings.TrimPrefix(r.Module, "node:")
		l.modules[module] = true
		for parent := range l.prefixes(module) {
			if parent != module {
				l.parents[parent] = true
			}
		}
	}
	return l
}

// prefixes are the modules that a module is part of, from the outside in, and itself.
func (l List) prefixes(module string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for at := 0; l.separator != ""; {
			next := strings.Index(module[at:], l.separator)
			if next < 0 {
				break
			}
			if end := at + next; end > 0 && !yield(module[:end]) {
				return
			}
			at += next + len(l.separator)
		}
		yield(module)
	}
}

// Match is the rule that blocks a module, itself or the nearest that it is part of.
func (l List) Match(module string) (rule string, blocked bool) {
	rule, _ = l.match(module)
	return rule, rule != ""
}

// match tells as well how many modules it has looked up: no more than rules are deep.
func (l List) match(module string) (rule string, steps int) {
	module = strings.TrimPrefix(module, "node:")
	for prefix := range l.prefixes(module) {
		steps++
		if l.modules[prefix] {
			rule = prefix
		}
		if !l.parents[prefix] {
			break
		}
	}
	return rule, steps
}
