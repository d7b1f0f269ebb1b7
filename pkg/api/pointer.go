package api

import "strings"

var escaped = strings.NewReplacer("~", "~0", "/", "~1")

// Pointer is the JSON pointer (RFC 6901) that leads along these words, from the whole.
func Pointer(words ...string) string {
	var pointer strings.Builder
	for _, word := range words {
		pointer.WriteString("/" + escaped.Replace(word))
	}
	return pointer.String()
}
