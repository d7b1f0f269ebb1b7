// Orders build steps by their dependencies and reports a cycle with its path.
package main

import (
	"fmt"
	"sort"
	"strings"
)

type cycleError []string

func (c cycleError) Error() string { return "cycle: " + strings.Join(c, " -> ") }

func order(deps map[string][]string) ([]string, error) {
	const visiting, done = 1, 2
	state := map[string]int{}
	var out, path []string
	var visit func(string) error
	visit = func(n string) error {
		switch state[n] {
		case done:
			return nil
		case visiting:
			for i, p := range path {
				if p == n {
					return cycleError(append(append([]string(nil), path[i:]...), n))
				}
			}
		}
		state[n] = visiting
		path = append(path, n)
		next := append([]string(nil), deps[n]...)
		sort.Strings(next)
		for _, d := range next {
			if err := visit(d); err != nil {
				return err
			}
		}
		path = path[:len(path)-1]
		state[n] = done
		out = append(out, n)
		return nil
	}
	var names []string
	for n := range deps {
		names = append(names, n)
	}
	sort.Strings(names)
	for _, n := range names {
		if err := visit(n); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func main() {
	deps := map[string][]string{
		"binary": {"link"}, "link": {"main.o", "util.o", "libc"}, "main.o": {"main.c", "util.h"},
		"util.o": {"util.c", "util.h"}, "test": {"binary", "fixtures"}, "package": {"test", "docs"}, "docs": {"main.c"},
	}
	steps, err := order(deps)
	for i, s := range steps {
		fmt.Printf("%2d %s\n", i+1, s)
	}
	fmt.Println(err)
	deps["util.h"] = []string{"generator"}
	deps["generator"] = []string{"link"}
	_, err = order(deps)
	fmt.Println(err)
}
