package daemon

import (
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/config"
)

func TestReadyURL(t *testing.T) {
	for _, c := range []struct {
		server config.Server
		want   string
	}{
		{config.Server{Port: 8080}, "http://127.0.0.1:8080/readyz"},
		{config.Server{Port: 8080, Addr: "0.0.0.0"}, "http://127.0.0.1:8080/readyz"},
		{config.Server{Port: 8080, Addr: "::"}, "http://[::1]:8080/readyz"},
		{config.Server{Port: 80, Addr: "192.0.2.7"}, "http://192.0.2.7:80/readyz"},
		{config.Server{Port: 443, Addr: "localhost", TLSCert: "a"}, "https://localhost:443/readyz"},
	} {
		if got, err := readyURL(c.server); got != c.want || err != nil {
			t.Errorf("%+v: %s %v, want %s", c.server, got, err, c.want)
		}
	}
	if url, err := readyURL(config.Server{}); err == nil {
		t.Errorf("%s, although the port is not known", url)
	}
}
