//go:build !linux

package daemon

import (
	"context"
	"net"
)

// listenUnix listens nowhere: only Linux has the sandbox, and says who calls.
func (d *Daemon) listenUnix(context.Context) net.Listener { return nil }

func withPeer(ctx context.Context, _ net.Conn) context.Context { return ctx }
