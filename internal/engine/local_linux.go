package engine

import (
	"cmp"

	"golang.org/x/net/http/httpproxy"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/local"
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

// Reclaim removes what killed processes left behind and names it.
func Reclaim() ([]string, error) { return local.Reclaim(local.Options{}) }
