package main

import (
	"os"

	"github.com/sandbox-run/sandbox-run/internal/engine"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// early opens the local runtime beside the parsing of the command line, which
// takes as long: together a tenth of a short run.
type early struct {
	ready   chan struct{}
	runtime sandbox.Runtime
	err     error
	taken   bool
}

func openEarly() *early {
	e := &early{ready: make(chan struct{})}
	go func() {
		defer close(e.ready)
		e.runtime, e.err = engine.Local(os.Getenv)
	}()
	return e
}

// take hands the runtime over.
func (e *early) take() (sandbox.Runtime, error) {
	e.taken = true
	<-e.ready
	return e.runtime, e.err
}

// drop closes a runtime that nobody took.
func (e *early) drop() {
	if e.taken {
		return
	}
	if <-e.ready; e.err == nil {
		_ = e.runtime.Close() // nothing ran in it
	}
}
