//go:build unix

package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// askedRuntime learns what an image's programs need from a container of it alone.
type askedRuntime struct {
	*fakeRuntime
	asked int
	err   error
}

func (rt *askedRuntime) ImageEnv(context.Context, sandbox.Container) ([]string, error) {
	rt.asked++
	return []string{"PATH=/opt/bin", "HOME=/root", "OWN=a\nb"}, rt.err
}

// The environment of such an image is asked for once, if it has a digest.
func TestImageEnvIsAskedFor(t *testing.T) {
	for digest, wantAsked := range map[string]int{"sha256:1": 1, "": 2} {
		rt := &askedRuntime{fakeRuntime: imageRuntime(map[string]string{"ruby --version": "ruby 3.3.1\n"})}
		rt.img = sandbox.Image{Name: "img:1", Digest: digest, Elsewhere: true}
		cfg := DefaultConfig()
		cfg.DataDir = t.TempDir()
		for range 2 {
			res, err := New(rt, cfg).Run(t.Context(), Request{Language: "ruby", Code: []byte("puts 1")}, nil)
			if err != nil || res.Status != api.StatusOK {
				t.Fatalf("%+v, %v", res, err)
			}
			env := rt.containers[len(rt.containers)-1].started[0].Env
			for _, kv := range []string{"PATH=/opt/bin", "OWN=a\nb", "HOME=/workspace"} {
				if !slices.Contains(env, kv) {
					t.Errorf("the program has %q, and not %q", env, kv)
				}
			}
		}
		if rt.asked != wantAsked || len(rt.containers) != 2+wantAsked {
			t.Errorf("digest %q: asked %d times, in %d containers", digest, rt.asked, len(rt.containers))
		}
		rt.checkDeleted(t)
	}
}

// The locale and the time zone are ours, as everywhere.
func TestImageEnvKeepsTheWorld(t *testing.T) {
	got := imageEnv([]string{"LANG=C", "LC_ALL=C", "LANGUAGE=de", "TZ=Europe/Berlin", "HOME=/root", "LCD=1", "PATH=/opt/bin"})
	if want := []string{"LCD=1", "PATH=/opt/bin"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// An engine that cannot tell it is no fault of the request, and one that finds out
// late that there is no image blames the image.
func TestImageEnvFaults(t *testing.T) {
	gone := &askedRuntime{fakeRuntime: imageRuntime(nil), err: fmt.Errorf("the engine is gone: %w", syscall.EAGAIN)}
	res, err := New(gone, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x")}, nil)
	if err != nil || res.Status != api.StatusSandboxError || res.Retryable == nil || !*res.Retryable {
		t.Errorf("%+v, %v", res, err)
	}
	gone.checkDeleted(t)
	late := &fakeRuntime{img: sandbox.Image{Name: "img:1"}, createErr: &sandbox.ImageError{Ref: "img:1", Err: errors.New("it is not there")}}
	_, err = New(late, DefaultConfig()).Run(t.Context(), Request{Language: "ruby", Code: []byte("x"), Image: "img:1"}, nil)
	var input *InputError
	if !errors.As(err, &input) || input.Kind != InputInvalid || input.Field != "/image" || input.Detail != "the image img:1 cannot be used: it is not there" {
		t.Errorf("error %+v", err)
	}
}
