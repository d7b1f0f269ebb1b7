// Reads an INI file from standard input: sections, comments, interpolation.
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"regexp"
	"sort"
	"strings"
)

type config map[string]map[string]string

func read(r io.Reader) (config, []error) {
	c, section := config{}, ""
	var errs []error
	sc := bufio.NewScanner(r)
	for n := 1; sc.Scan(); n++ {
		line := strings.TrimSpace(sc.Text())
		switch {
		case line == "" || line[0] == ';' || line[0] == '#':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			section = strings.TrimSpace(line[1 : len(line)-1])
		default:
			k, v, ok := strings.Cut(line, "=")
			if !ok {
				errs = append(errs, fmt.Errorf("line %d: no = in %q", n, line))
				continue
			}
			if c[section] == nil {
				c[section] = map[string]string{}
			}
			c[section][strings.TrimSpace(k)] = strings.Trim(strings.TrimSpace(v), `"`)
		}
	}
	return c, errs
}

var reference = regexp.MustCompile(`\$\{(?:(\w+):)?(\w+)\}`)

func (c config) get(section, key string, depth int) string {
	if depth > 8 {
		return "<loop>"
	}
	return reference.ReplaceAllStringFunc(c[section][key], func(ref string) string {
		m := reference.FindStringSubmatch(ref)
		if m[1] == "" {
			m[1] = section
		}
		return c.get(m[1], m[2], depth+1)
	})
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

func main() {
	c, errs := read(os.Stdin)
	for _, s := range sortedKeys(c) {
		fmt.Printf("[%s]\n", s)
		for _, k := range sortedKeys(c[s]) {
			fmt.Printf("  %-8s %q\n", k, c.get(s, k, 0))
		}
	}
	for _, err := range errs {
		fmt.Println("warning:", err)
	}
}
