package e2b

import (
	"net/http"
	"os"
	"testing"
)

// One that begins while others look for the dead is none of them: it has its file as long
// as it lives.
func TestBeginWhileOthersReclaim(t *testing.T) {
	rt := answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("[]")) })
	rt.instance.dir = t.TempDir()
	quit, reclaimed := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(reclaimed)
		for {
			if _, err := rt.Reclaim(t.Context()); err != nil {
				t.Error(err)
			}
			select {
			case <-quit:
				return
			default:
			}
		}
	}()
	for range 500 {
		in, err := newInstance(rt.instance.dir)
		if err != nil {
			t.Error(err)
			break
		}
		if _, err := os.Stat(in.file.Name()); err != nil {
			t.Error(err)
		}
		in.release(true)
	}
	close(quit)
	<-reclaimed
}
