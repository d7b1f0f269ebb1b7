package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
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

// checkKeys refuses keys that nobody would have to show.
func checkKeys(s config.Server) error {
	if s.Insecure && (s.APIKey != "" || s.APIKeysFile != "") {
		return errors.New("SANDBOX_INSECURE lets everybody in, and SANDBOX_API_KEY and SANDBOX_API_KEYS_FILE only who has a key: set the one or the others")
	}
	return nil
}

// checkTLS tells early of a certificate that cannot be served.
func checkTLS(s config.Server) error {
	if (s.TLSCert == "") != (s.TLSKey == "") {
		return errors.New("SANDBOX_TLS_CERT and SANDBOX_TLS_KEY go together: set both, or none for plain HTTP")
	}
	if s.TLSCert == "" {
		return nil
	}
	if _, err := tls.LoadX509KeyPair(s.TLSCert, s.TLSKey); err != nil {
		return fmt.Errorf("SANDBOX_TLS_CERT, SANDBOX_TLS_KEY: %w", err)
	}
	return nil
}
