package client

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"
)

// DefaultMaxAnswerBytes is room for the 64 MiB of files that a server collects,
// in base64, for output, and for what JSON has to escape.
const DefaultMaxAnswerBytes = 256 << 20

// Options are what a [Client] is made with. The zero value is for a server
// without keys.
type Options struct {
	// Key is an API key. Beyond this machine it needs https to stay one.
	Key string
	// HTTPClient makes the requests; nil is one that follows the proxy settings
	// of the environment. Its Timeout bounds whole runs. Redirects are not
	// followed, whatever it says; for a unix socket it must not have a Transport.
	HTTPClient *http.Client
	// MaxAnswerBytes bounds an answer, and each line of a stream, since the last
	// one is as large as the result; 0 is [DefaultMaxAnswerBytes].
	MaxAnswerBytes int
}

// Client calls one server. It is safe for concurrent use.
type Client struct {
	base   *url.URL
	server string // as the caller named it
	key    string
	http   *http.Client
	most   int
}

// New makes a client of the server at a URL: http://HOST:PORT, https://HOST, or
// unix:///PATH for a socket, which is refused unless it is served by the caller's
// own user or by root. It does not connect.
func New(server string, o Options) (*Client, error) {
	base, socket, err := parse(server)
	if err != nil {
		return nil, err
	}
	if strings.ContainsFunc(o.Key, unicode.IsControl) {
		return nil, errors.New("the key holds a line break or another control character, which no header can carry")
	}
	c := &Client{base: base, server: server, key: o.Key, http: &http.Client{}, most: o.MaxAnswerBytes}
	if c.most <= 0 {
		c.most = DefaultMaxAnswerBytes
	}
	if o.HTTPClient != nil {
		*c.http = *o.HTTPClient
	}
	switch {
	case c.http.Transport == nil:
		c.http.Transport = transport(socket)
	case socket != "":
		return nil, errors.New("a unix socket has a transport of its own: leave that of the HTTP client empty")
	}
	c.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return c, nil
}

// parse reads the URL of a server. Its errors do not repeat it: people put
// passwords there.
func parse(server string) (base *url.URL, socket string, err error) {
	u, err := url.Parse(server)
	switch {
	case err != nil:
	case u.User != nil:
		return nil, "", errors.New("the server's URL holds a user name: a key is given by itself")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, "", errors.New("the server's URL ends after its path, without ? and #")
	case u.Scheme == "unix" && u.Host == "" && path.IsAbs(u.Path):
		return &url.URL{Scheme: "http", Host: "localhost"}, u.Path, nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Hostname() != "":
		return u, "", nil
	}
	return nil, "", errors.New("the server's URL is none of http://HOST:PORT, https://HOST and unix:///PATH")
}

// Close closes idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
