package server

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What another server names is a line of the audit, whose root is an image: it is no more than a word.
func TestWordsOfAnotherServer(t *testing.T) {
	s := &Server{Options: Options{Runtime: &imageRuntime{}, Containers: &Containers{}}}
	for word, good := range map[string]bool{
		"": true, "python": true, "3.12.1-é": true,
		strings.Repeat("x", 64): true, strings.Repeat("x", 65): false, "a\nb": false, "a\x1b[2J": false, "\xff": false,
	} {
		for _, spec := range []sandbox.Spec{{Image: "img:1", Language: word}, {Image: "img:1", Language: "python", Version: word}} {
			_, err := s.rootOf(t.Context(), spec)
			if refused := errors.As(err, new(*sandbox.ImageError)); refused == good {
				t.Errorf("%q: %v", word, err)
			}
		}
	}
}

// imageRuntime has every image.
type imageRuntime struct{ sandbox.Runtime }

func (*imageRuntime) Image(context.Context, sandbox.Spec) (sandbox.Image, error) {
	return sandbox.Image{Name: "img:1", Digest: "sha256:1"}, nil
}
