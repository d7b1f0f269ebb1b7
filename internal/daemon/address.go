package daemon

import (
	"net"
	"net/netip"
	"strconv"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

// address is where to listen.
func address(s config.Server) string {
	addr := s.Addr
	if addr == "" {
		addr = "127.0.0.1"
	}
	return net.JoinHostPort(addr, strconv.FormatInt(s.Port, 10))
}

// loopback tells whether nobody else can reach an address.
func loopback(addr string) bool {
	if addr == "" || addr == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(addr)
	return err == nil && ip.IsLoopback()
}
