package remote

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// endpoint is a server, and what is known of it.
type endpoint struct {
	Endpoint
	base *url.URL
	http *http.Client
	key  Secret
	dial time.Duration
	// quick bounds answers that take no time there, and slow those for which it may
	// have to get an image, or to unpack what is kept.
	quick, slow time.Duration

	mu      sync.Mutex
	polling bool
	polled  time.Time     // when it was last looked at
	way     time.Duration // there and back; 0 when it is not known
	failure error         // why it is left alone; nil when it is healthy
	rest    time.Duration // how long it is
	images  map[imageKey]knownImage
}

func newEndpoint(e Endpoint, o Options) (*endpoint, error) {
	base, socket, err := e.parse()
	if err != nil {
		return nil, err
	}
	return &endpoint{
		Endpoint: e, base: base, key: o.APIKey, dial: o.DialTimeout, quick: 2 * time.Minute, slow: 15 * time.Minute, images: map[imageKey]knownImage{},
		http: &http.Client{
			Transport: o.transport(socket),
			// A redirect would take the key along.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// maxAnswer bounds a JSON answer, and maxProblem one that refuses.
const (
	maxAnswer  = 1 << 20
	maxProblem = 64 << 10
)

func (e *endpoint) header(ctx context.Context) http.Header {
	h := http.Header{"Accept": {"application/json"}}
	if e.key.Reveal() != "" {
		h.Set("Authorization", "Bearer "+e.key.Reveal())
	}
	for _, node := range tunnel.Via(ctx) {
		h.Add(tunnel.ViaHeader, node)
	}
	return h
}

// connect opens a connection for a container.
func (e *endpoint) connect(ctx context.Context) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, e.dial)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, e.base.JoinPath("v1/runtime/containers").String(), &websocket.DialOptions{
		HTTPClient: e.http, HTTPHeader: e.header(ctx), Subprotocols: []string{tunnel.Protocol},
	})
	if resp != nil && resp.Body != nil && err != nil {
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusSwitchingProtocols {
			return nil, e.refused(resp)
		}
	}
	if err != nil {
		return nil, e.unreachable(err)
	}
	if conn.Subprotocol() != tunnel.Protocol {
		_ = conn.CloseNow()
		return nil, &refusal{reason: "it does not speak " + tunnel.Protocol + "; is it a sandbox-server of this version?", sick: true}
	}
	return conn, nil
}

// get asks for a JSON document.
func (e *endpoint) get(ctx context.Context, patience time.Duration, path string, query url.Values, into any) error {
	return e.do(ctx, patience, http.MethodGet, path, query, nil, into)
}

// do sends a request, whose answer has so much time: a server that says nothing would
// hold up the run for ever, and the servers behind it.
func (e *endpoint) do(ctx context.Context, patience time.Duration, method, path string, query url.Values, body io.Reader, into any) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	u := e.base.JoinPath(path)
	u.RawQuery = query.Encode()
	r, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return err
	}
	r.Header = e.header(ctx)
	resp, err := e.http.Do(r)
	if err != nil {
		return e.unreachable(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return e.refused(resp)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return e.unreachable(err)
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
		return &refusal{reason: "it answers as no sandbox-server does", sick: true}
	}
	return nil
}

// unreachable is a server that does not answer.
func (e *endpoint) unreachable(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which is said anyway
	}
	text := strings.TrimPrefix(err.Error(), "failed to WebSocket dial: ")
	return &refusal{reason: "no answer: " + tunnel.Clean(e.key.Scrub(text)), again: true, sick: true}
}

// refused reads an answer that is none. Errors of the far runtime are in it as such.
func (e *endpoint) refused(resp *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	var p struct {
		api.Problem
		Error *tunnel.Error `json:"error"`
	}
	if json.Unmarshal(text, &p) == nil && p.Error != nil {
		p.Error.Rewrite(e.key.Scrub)
		return p.Error.Err()
	}
	reason := tunnel.Clean(e.key.Scrub(p.Detail))
	if reason == "" {
		reason = fmt.Sprintf("it answers %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests:
		return &refusal{reason: reason, again: true}
	case http.StatusNotFound:
		return &refusal{reason: "it has no containers for other servers; is it a sandbox-server of this version?", sick: true}
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusLoopDetected:
		return &refusal{reason: reason, sick: true}
	}
	return &refusal{reason: reason, again: resp.StatusCode > http.StatusInternalServerError, sick: resp.StatusCode >= http.StatusInternalServerError}
}

// imageKey is what a container is for.
type imageKey struct{ image, language, version string }

func keyOf(spec sandbox.Spec) imageKey { return imageKey{spec.Image, spec.Language, spec.Version} }

func (k imageKey) query() url.Values {
	q := url.Values{}
	for name, value := range map[string]string{"image": k.image, "language": k.language, "version": k.version} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return q
}

// knownImage is what the server has for it.
type knownImage struct {
	sandbox.Image
	asked time.Time
}

// imageAge is how long that is believed without asking again. A container that would
// have another one is refused by the server, so no plan meets what it was not made for.
const imageAge = time.Minute

// maxImages bounds what is remembered.
const maxImages = 1000

// image asks what a container of spec has for its root there.
func (e *endpoint) image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	key := keyOf(spec)
	e.mu.Lock()
	known, ok := e.images[key]
	e.mu.Unlock()
	if ok && time.Since(known.asked) < imageAge {
		return known.Image, nil
	}
	var img sandbox.Image
	if err := e.get(ctx, e.slow, "v1/runtime/image", key.query(), &img); err != nil {
		return sandbox.Image{}, err
	}
	if img.IsZero() || len(img.Env) > 1000 {
		return sandbox.Image{}, &refusal{reason: "it answers as no sandbox-server does", sick: true}
	}
	img.Name, img.Elsewhere = tunnel.Clean(img.Name), true
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.images) >= maxImages {
		clear(e.images)
	}
	e.images[key] = knownImage{img, time.Now()}
	return img, nil
}

func (e *endpoint) forgetImage(spec sandbox.Spec) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.images, keyOf(spec))
}
