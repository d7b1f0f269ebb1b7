package remote

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/internal/secret"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

// Options say which servers there are. The zero value has none.
type Options struct {
	// Endpoints are the servers.
	Endpoints []Endpoint
	// Region is where containers may be: on servers with this label, and on no
	// other. Empty means anywhere.
	Region string
	// APIKey is the key, the same for all servers; it needs the scope runtime.
	// Empty means that APIKeyFile names the file that holds it, or that there is
	// none.
	APIKey     Secret
	APIKeyFile string
	// Transport carries the requests of http and https addresses; nil means one of
	// our own, which heeds the proxy settings of the environment.
	Transport *http.Transport
	// DialTimeout bounds how long a server may take to answer before anything runs;
	// zero means ten seconds.
	DialTimeout time.Duration
}

// Endpoint is a server.
type Endpoint struct {
	// URL is http://HOST:PORT, https://HOST or unix:///PATH.
	URL string
	// Region is a label of where it is, such as eu.
	Region string
}

// DefaultDialTimeout is that of [Options].
const DefaultDialTimeout = 10 * time.Second

// maxEndpoints is more than anybody measures the way to.
const maxEndpoints = 64

// region is the form of a label.
var region = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$`)

// ParseEndpoints reads a list of servers, separated by blanks or commas, each with
// its region behind a #: https://a.example#eu https://b.example#us. Its errors do not
// repeat what they are about: people put passwords into URLs.
func ParseEndpoints(list string) ([]Endpoint, error) {
	var all []Endpoint
	for i, word := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r <= ' ' }) {
		address, label, labelled := strings.Cut(word, "#")
		e := Endpoint{URL: address, Region: label}
		if labelled && label == "" {
			return nil, fmt.Errorf("server %d: there is nothing behind its #, which names a region", i+1)
		}
		if _, _, err := e.parse(); err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		all = append(all, e)
	}
	if len(all) == 0 {
		return nil, errors.New("no server is named: give one or more addresses, such as https://sandbox.example#eu")
	}
	return all, nil
}

// parse reads the address. A socket's is that of a server on this machine.
func (e Endpoint) parse() (base *url.URL, socket string, err error) {
	if e.Region != "" && !region().MatchString(e.Region) {
		return nil, "", errors.New("a region is up to 63 letters, digits, dots, dashes and underscores")
	}
	u, err := url.Parse(e.URL)
	switch {
	case err != nil:
	case u.User != nil:
		return nil, "", errors.New("its URL holds a user name or password: the key is given by itself")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, "", errors.New("its URL ends after its path, without ?")
	case u.Scheme == "unix" && u.Host == "" && path.IsAbs(u.Path):
		return &url.URL{Scheme: "http", Host: "localhost"}, u.Path, nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		return u, "", nil
	}
	return nil, "", errors.New("its URL is none of http://HOST:PORT, https://HOST and unix:///PATH")
}

// Secret is a value that does not show itself.
type Secret = secret.Value

// NewSecret wraps a value.
func NewSecret(value string) Secret { return secret.New(value) }

// complete fills in the defaults and refuses what cannot be meant.
func (o Options) complete() (Options, error) {
	if o.DialTimeout == 0 {
		o.DialTimeout = DefaultDialTimeout
	}
	var err error
	if o.APIKey.IsZero() && o.APIKeyFile != "" {
		if o.APIKey, err = secret.Read(o.APIKeyFile); err != nil {
			return o, fmt.Errorf("read the key of the other servers: %w", err)
		}
	}
	switch {
	case !o.APIKey.Sendable():
		err = errors.New("the key of the other servers holds what no key does: the variable, or the file, must be the key alone")
	case o.DialTimeout < 0:
		err = fmt.Errorf("a server cannot take %v to answer", o.DialTimeout)
	case len(o.Endpoints) == 0:
		err = errors.New("no other server is named: set SANDBOX_REMOTE to one or more addresses, such as https://sandbox.example#eu")
	case len(o.Endpoints) > maxEndpoints:
		err = fmt.Errorf("%d servers are named, and %d are the most", len(o.Endpoints), maxEndpoints)
	case o.Region != "" && !region().MatchString(o.Region):
		err = errors.New("a region is up to 63 letters, digits, dots, dashes and underscores")
	}
	return o, err
}

// transport carries the requests to one server.
func (o Options) transport(socket string) *http.Transport {
	switch {
	case socket != "":
		return client.SocketTransport(socket)
	case o.Transport != nil:
		return o.Transport
	}
	return &http.Transport{
		DialContext: (&net.Dialer{Timeout: o.DialTimeout}).DialContext,
		Proxy:       http.ProxyFromEnvironment, TLSHandshakeTimeout: DefaultDialTimeout,
		IdleConnTimeout: time.Minute, MaxIdleConnsPerHost: 8, DisableCompression: true,
	}
}
