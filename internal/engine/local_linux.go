package engine

import (
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
)

// Local opens the local runtime.
func Local() (sandbox.Runtime, error) { return local.New(local.Options{}) }

// Reclaim removes what killed processes left behind and names it.
func Reclaim() ([]string, error) { return local.Reclaim(local.Options{}) }
