package engine

import (
	"cmp"

	"golang.org/x/net/http/httpproxy"
)

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
