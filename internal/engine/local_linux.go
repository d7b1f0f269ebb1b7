package engine

import (
	"cmp"
	"errors"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
	ocirun "github.com/sandbox-run/sandbox-run/pkg/sandbox/oci"
)

// Local opens the local runtime. Installers of packages go through the HTTP proxy
// that the environment names.
func Local(getenv func(string) string) (sandbox.Runtime, error) {
	return local.New(local.Options{Proxy: proxySettings(getenv).ProxyFunc()})
}

// proxySettings are those that curl, pip and Go programs heed, in either case.
func proxySettings(getenv func(string) string) *httpproxy.Config {
	either := func(lower, upper string) string { return cmp.Or(getenv(lower), getenv(upper)) }
	return &httpproxy.Config{
		HTTPProxy:  either("http_proxy", "HTTP_PROXY"),
		HTTPSProxy: either("https_proxy", "HTTPS_PROXY"),
		NoProxy:    either("no_proxy", "NO_PROXY"),
		CGI:        getenv("REQUEST_METHOD") != "",
	}
}

// oci opens an OCI runtime: its program, and flags of its own.
func oci(command string) (sandbox.Runtime, error) {
	var opts ocirun.Options
	if words := strings.Fields(command); len(words) > 0 {
		opts.Program, opts.Args = words[0], words[1:]
	}
	return ocirun.New(opts)
}

// Reclaim removes what killed processes left behind and names it.
func Reclaim() ([]string, error) {
	removed, err := local.Reclaim(local.Options{})
	more, ociErr := ocirun.Reclaim(ocirun.Options{})
	return append(removed, more...), errors.Join(err, ociErr)
}
