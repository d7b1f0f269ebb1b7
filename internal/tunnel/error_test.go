package tunnel_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What callers tell errors by is on both sides of the connection.
func TestErrorsArrive(t *testing.T) {
	unsupported := &sandbox.UnsupportedError{What: "a disk", Reason: "none", Mend: "buy one"}
	for _, c := range []struct {
		err  error
		same func(error) bool
	}{
		{fmt.Errorf("busy: %w", syscall.EBUSY), func(err error) bool { return errors.Is(err, syscall.EBUSY) }},
		{fmt.Errorf("gone: %w", sandbox.ErrOutOfMemory), func(err error) bool { return errors.Is(err, sandbox.ErrOutOfMemory) }},
		{errors.New("plain"), func(err error) bool { return !errors.Is(err, sandbox.ErrOutOfMemory) }},
		{fmt.Errorf("far: %w", unsupported), func(err error) bool {
			got, ok := errors.AsType[*sandbox.UnsupportedError](err)
			return ok && *got == *unsupported
		}},
		{&sandbox.StartError{Program: "x", Err: syscall.ENOENT}, func(err error) bool {
			got, ok := errors.AsType[*sandbox.StartError](err)
			return ok && got.Program == "x" && errors.Is(got.Err, syscall.ENOENT)
		}},
		{&sandbox.NetworkError{Field: "allow", Detail: "bad"}, func(err error) bool {
			got, ok := errors.AsType[*sandbox.NetworkError](err)
			return ok && *got == sandbox.NetworkError{Field: "allow", Detail: "bad"}
		}},
		{&tunnel.Elsewhere{Reason: "full"}, func(err error) bool {
			got, ok := errors.AsType[*tunnel.Elsewhere](err)
			return ok && got.Reason == "full" && errors.Is(err, syscall.EAGAIN)
		}},
	} {
		sent, err := json.Marshal(tunnel.NewError(c.err))
		if err != nil {
			t.Fatal(err)
		}
		var got tunnel.Error
		if err := json.Unmarshal(sent, &got); err != nil || !c.same(got.Err()) {
			t.Errorf("%v: %s arrives as %v (%v)", c.err, sent, got.Err(), err)
		}
	}
}
