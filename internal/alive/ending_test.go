package alive

import (
	"errors"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestEnding(t *testing.T) {
	e := NewEnding()
	if e.Ended() {
		t.Error("it has ended from the beginning")
	}
	broken := errors.New("broken")
	go func() {
		e.Exit, e.Err = sandbox.Exit{Code: 3}, broken
		e.End()
	}()
	if exit, err := e.Wait(); exit.Code != 3 || !errors.Is(err, broken) {
		t.Errorf("%+v, %v", exit, err)
	}
	if <-e.Done(); !e.Ended() {
		t.Error("it has not ended")
	}
}
