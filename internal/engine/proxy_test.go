package engine

import (
	"net/url"
	"testing"
)

func TestProxySettings(t *testing.T) {
	env := map[string]string{
		"https_proxy": "http://lower:3128", "HTTPS_PROXY": "http://upper:3128", "HTTP_PROXY": "upper:8080", "NO_PROXY": "direct.test",
	}
	proxy := proxySettings(func(name string) string { return env[name] }).ProxyFunc()
	for address, want := range map[string]string{
		"https://pypi.org:443":   "http://lower:3128",
		"http://index.test:80":   "http://upper:8080",
		"https://direct.test":    "",
		"https://127.0.0.1:3141": "",
	} {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		got, err := proxy(u)
		if err != nil || (got == nil) != (want == "") || got != nil && got.String() != want {
			t.Errorf("%s: through %v, %v, want %q", address, got, err, want)
		}
	}
	if got, err := proxySettings(func(string) string { return "" }).ProxyFunc()(&url.URL{Scheme: "https", Host: "pypi.org"}); got != nil || err != nil {
		t.Errorf("without settings: %v, %v", got, err)
	}
}
