//go:build !linux

package posture

import (
	"context"
	"errors"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Take looks at a container, which it can on Linux alone.
func Take(context.Context, sandbox.Runtime, sandbox.Level) (*Posture, error) {
	return nil, errors.New("the posture of a sandbox can be looked at on Linux alone")
}
