package e2b

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/secret"
)

// The defaults of [Options].
const (
	DefaultDomain         = "e2b.app"
	DefaultTemplate       = "base"
	DefaultTimeout        = 5 * time.Minute
	DefaultRequestTimeout = time.Minute
)

// Options say how the service is reached and what it makes. The zero value needs
// a key and nothing else.
type Options struct {
	// APIURL is the control plane; empty means https://api.DOMAIN.
	APIURL string
	// SandboxURL is one address for the traffic of all sandboxes, which are then
	// told apart by headers; empty means https://PORT-ID.DOMAIN.
	SandboxURL string
	// Domain is the service's; empty means [DefaultDomain].
	Domain string
	// APIKey is the key. Empty means that APIKeyFile names the file that holds it.
	APIKey     Secret
	APIKeyFile string
	// Template is what a container without an image is made from; empty means
	// [DefaultTemplate]. An image is a template's own name.
	Template string
	// HTTPClient carries the requests; nil means one of our own. Its Timeout is
	// not used, and no redirect is followed: it would take the key along.
	HTTPClient *http.Client
	// Prices are what the costs of containers are estimated from.
	Prices Prices
	// Timeout is how long a sandbox lives on when we do not, at least 10 s; zero
	// means [DefaultTimeout]. It is prolonged while its container is there.
	Timeout time.Duration
	// RequestTimeout bounds each request but those that stream a process; zero
	// means [DefaultRequestTimeout].
	RequestTimeout time.Duration
	// RuntimeDir is where live instances hold a file each, by which sandboxes of
	// dead ones are found and deleted. Empty leaves them to their Timeout.
	RuntimeDir string
}

// Prices are what the service takes, in one currency.
type Prices struct{ PerVCPUSecond, PerGiBSecond float64 }

// Secret is a value that does not show itself.
type Secret = secret.Value

// NewSecret wraps a value.
func NewSecret(value string) Secret { return secret.New(value) }

// ParseURL gives back the address of a service, where it is one. Its error does not repeat
// it: people put passwords into URLs.
func ParseURL(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return "", errors.New("an address begins with http:// or https://, and a host follows")
	}
	return address, nil
}

// complete fills in the defaults and refuses what cannot be meant.
func (o Options) complete() (Options, error) {
	o.Domain = cmp.Or(o.Domain, DefaultDomain)
	if !hostName(o.Domain) {
		return o, fmt.Errorf("%.80q is no domain of a service", o.Domain)
	}
	o.APIURL = strings.TrimSuffix(cmp.Or(o.APIURL, "https://api."+o.Domain), "/")
	o.SandboxURL = strings.TrimSuffix(o.SandboxURL, "/")
	for name, address := range map[string]string{"E2B_API_URL": o.APIURL, "E2B_SANDBOX_URL": o.SandboxURL} {
		if _, err := ParseURL(address); address != "" && err != nil {
			return o, fmt.Errorf("%s: %w", name, err)
		}
	}
	o.Template = cmp.Or(o.Template, DefaultTemplate)
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.RequestTimeout = cmp.Or(o.RequestTimeout, DefaultRequestTimeout)
	if o.Timeout < 10*time.Second || o.Timeout > 24*time.Hour || o.RequestTimeout < 0 {
		return o, fmt.Errorf("a sandbox lives from 10s to 24h without us, not %v, and a request takes no %v", o.Timeout, o.RequestTimeout)
	}
	var err error
	if o.APIKey.IsZero() && o.APIKeyFile != "" {
		if o.APIKey, err = secret.Read(o.APIKeyFile); err != nil {
			return o, fmt.Errorf("read the key of E2B: %w", err)
		}
	}
	switch {
	case o.APIKey.IsZero():
		err = errors.New("there is no key for E2B: set E2B_API_KEY, or name the file that holds it")
	case !o.APIKey.Sendable():
		err = errors.New("the key for E2B holds what no key does: E2B_API_KEY, or its file, must be the key alone")
	}
	return o, err
}

// client is the HTTP client without what would break streams or leak the key.
func (o Options) client() *http.Client {
	client := http.Client{Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true,
		TLSHandshakeTimeout: 20 * time.Second, IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 32,
	}}
	if o.HTTPClient != nil {
		client = *o.HTTPClient
	}
	client.Timeout = 0
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
