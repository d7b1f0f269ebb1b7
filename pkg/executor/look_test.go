package executor

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// manyImages has an image for every name.
type manyImages struct{ *fakeRuntime }

func (manyImages) Image(_ context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	return sandbox.Image{Name: spec.Image}, nil
}

// hangingImages are images whose programs do not answer; most is how many were asked at
// once.
func hangingImages(most *atomic.Int32) manyImages {
	var now atomic.Int32
	return manyImages{&fakeRuntime{program: func(p sandbox.Process, r *fakeRunning) sandbox.Exit {
		most.Store(max(most.Load(), now.Add(1)))
		defer now.Add(-1)
		return untilTerm(p, r)
	}}}
}

func runRuby(t *testing.T, e *Executor, image string) (*api.Result, error) {
	t.Helper()
	return e.Run(t.Context(), Request{Language: "ruby", Code: []byte("x"), Image: image}, nil)
}

// Images are looked into by requests that have no place yet: by a few at a time.
func TestFewImagesAreLookedIntoAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int32
		rt := hangingImages(&most)
		e := New(rt, DefaultConfig())
		var group sync.WaitGroup
		for i := range 5 * maxLooks {
			group.Go(func() {
				req := Request{Language: "ruby", Code: []byte("x"), Image: fmt.Sprintf("img:%d", i), Tenant: fmt.Sprint(i % 2)}
				if _, err := e.Run(t.Context(), req, nil); err == nil || !strings.Contains(err.Error(), "did not answer") {
					t.Errorf("%v", err)
				}
			})
		}
		group.Wait()
		if most.Load() != maxLooks || len(rt.containers) != 5*maxLooks {
			t.Errorf("%d at once, %d in all", most.Load(), len(rt.containers))
		}
		rt.checkDeleted(t)
	})
}

// No tenant keeps all others from looking.
func TestLooksOfOneTenant(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int32
		e := New(hangingImages(&most), DefaultConfig())
		var group sync.WaitGroup
		for i := range 5 * maxLooks {
			group.Go(func() { _, _ = runRuby(t, e, fmt.Sprintf("img:%d", i)) })
		}
		group.Wait()
		if most.Load() != maxLooks-1 {
			t.Errorf("%d at once", most.Load())
		}
	})
}

// What an image lacks is not looked for again by everybody who asks for it.
func TestFailedLooksAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var most atomic.Int32
		rt := hangingImages(&most)
		e := New(rt, DefaultConfig())
		ask := func() {
			t.Helper()
			if _, err := runRuby(t, e, "img:1"); err == nil || !strings.Contains(err.Error(), "ruby of the image img:1: it did not answer") {
				t.Errorf("%v", err)
			}
		}
		var group sync.WaitGroup
		for range 5 * maxLooks {
			group.Go(ask)
		}
		group.Wait()
		ask()
		if len(rt.containers) != maxLooks-1 {
			t.Errorf("%d containers while it was not known, or since", len(rt.containers))
		}
		time.Sleep(failedLookTime)
		if ask(); len(rt.containers) != maxLooks {
			t.Errorf("%d containers after a while", len(rt.containers))
		}
		rt.checkDeleted(t)
	})
}

// That no container can be made for too long is remembered as well; an engine that was
// gone for a moment is asked at once.
func TestWhichLooksAreRemembered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tries := 0
		hangs := &fakeRuntime{img: sandbox.Image{Name: "img:1"}, onCreate: func() { tries++; time.Sleep(time.Hour) }}
		gone := &fakeRuntime{img: sandbox.Image{Name: "img:1"}, createErr: syscall.EAGAIN, onCreate: func() { tries++ }}
		for want, rt := range map[int]*fakeRuntime{1: hangs, 2: gone} {
			tries = 0
			e := New(rt, DefaultConfig())
			for range 2 {
				if res, err := runRuby(t, e, "img:1"); err != nil || res.Status != api.StatusSandboxError || !*res.Retryable {
					t.Errorf("%+v, %v", res, err)
				}
			}
			if tries != want {
				t.Errorf("tried %d times, want %d", tries, want)
			}
		}
	})
}

func TestRememberedLooksAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLooks()
		for range 2 {
			for i := range 2 * maxFailedLooks {
				l.remember(fmt.Sprint(i), nil, nil)
			}
			if len(l.failed) != maxFailedLooks {
				t.Errorf("%d are remembered", len(l.failed))
			}
			time.Sleep(2 * failedLookTime)
		}
		if _, ok := l.recall("1"); ok {
			t.Error("for ever")
		}
	})
}
