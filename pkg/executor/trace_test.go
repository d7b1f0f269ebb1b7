package executor

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// tracingRuntime can name denied calls, unless it says why not.
type tracingRuntime struct {
	*fakeRuntime
	why error
}

func (r tracingRuntime) CanTraceDenied(sandbox.Level) error { return r.why }

// TestTraceDenied: whoever asks to hear of denied calls does, or nothing is made.
func TestTraceDenied(t *testing.T) {
	fake := &fakeRuntime{}
	for name, rt := range map[string]sandbox.Runtime{
		"only local can":      fake,
		"here: the kernel is": tracingRuntime{fake, errors.New("the kernel is too old")},
	} {
		_, err := New(rt, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x"), TraceDenied: true}, nil)
		var input *InputError
		if !errors.As(err, &input) || input.Kind != InputUnsupported || !strings.Contains(input.Detail, name) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if len(fake.containers) > 0 {
		t.Error("something was made")
	}
}
