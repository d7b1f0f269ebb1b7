// Package rot shifts letters by thirteen.
package rot

import (
	"strings"

	"example.test/initorder/registry"
)

type codec struct{}

func (codec) Encode(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return 'a' + (r-'a'+13)%26
		}
		return r
	}, s)
}

func (c codec) Decode(s string) string { return c.Encode(s) }

func init() { registry.Register("rot13", codec{}) }
