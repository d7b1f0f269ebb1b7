// Package reverse turns texts around.
package reverse

import "example.test/initorder/registry"

type codec struct{}

func (codec) Encode(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func (c codec) Decode(s string) string { return c.Encode(s) }

func init() { registry.Register("reverse", codec{}) }
