//go:build !linux

package relay

import "net/netip"

// localRoutes are none: only Linux has the sandbox.
func localRoutes() ([]netip.Prefix, error) { return nil, nil }
