// Package registry knows the codecs by name.
package registry

import (
	"fmt"
	"sort"
	"strings"
)

type Codec interface {
	Encode(string) string
	Decode(string) string
}

var codecs = map[string]Codec{}

// Register is called by the packages of the codecs.
func Register(name string, c Codec) {
	fmt.Println("init: codec", name)
	codecs[name] = c
}

func Names() (out []string) {
	for n := range codecs {
		out = append(out, n)
	}
	sort.Strings(out)
	return out
}

func Get(name string) (Codec, error) {
	if c, ok := codecs[name]; ok {
		return c, nil
	}
	return nil, fmt.Errorf("no codec %q (have %s)", name, strings.Join(Names(), ", "))
}
