package daemon

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

// healthTimeout bounds the check: a server that is slower than that is not well.
const healthTimeout = 8 * time.Second

// healthcheck asks the server that the configuration describes whether it would
// run programs. It is for container images, which need no HTTP client then.
func (c Command) healthcheck(cfg config.Config) error {
	url, err := readyURL(cfg.Server)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), healthTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	// The certificate has the name that callers use. It is not checked: nothing is
	// sent but the question, and to this machine. A proxy has no place here either.
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return fmt.Errorf("no answer: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	_, err = fmt.Fprintln(c.Stdout, "ok")
	return err
}

// readyURL is where the server tells whether it is ready, as seen from its machine.
func readyURL(s config.Server) (string, error) {
	if s.Port == 0 {
		return "", &usageError{errors.New("SANDBOX_PORT is 0: the port is known to the server alone")}
	}
	if ip, err := netip.ParseAddr(s.Addr); err == nil && ip.IsUnspecified() {
		s.Addr = "127.0.0.1"
		if ip.Is6() {
			s.Addr = "::1"
		}
	}
	scheme := "http"
	if s.TLSCert != "" {
		scheme = "https"
	}
	return scheme + "://" + address(s) + "/readyz", nil
}
