package e2b

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// client speaks HTTP with the service.
type client struct {
	options Options
	http    *http.Client
}

// What is taken of an answer at most: of one that is decoded as a whole, and of a
// list.
const (
	maxAnswerBytes = 16 << 20
	maxListBytes   = 64 << 20
)

// request is one request. Its answer is a body that the caller closes, or an
// error: no status but 2xx comes through.
type request struct {
	where
	method, url string
	header      http.Header
	body        io.Reader
	// stream leaves the answer's end to the context, and patient its begin as well.
	stream, patient bool
}

// do sends a request. The time limit is that of the answer's header, and for a
// body that is not streamed that of the whole answer.
func (c *client) do(ctx context.Context, r request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	slow := time.AfterFunc(c.options.RequestTimeout, func() { cancel(errSlow) })
	if r.patient {
		slow.Stop()
	}
	req, err := http.NewRequestWithContext(ctx, r.method, r.url, r.body)
	if err != nil {
		cancel(nil)
		return nil, fmt.Errorf("E2B: %s: %s", r.op, r.clean(err.Error()))
	}
	req.Header = r.header.Clone()
	req.Header.Set("User-Agent", "sandbox-run")
	resp, err := c.http.Do(req)
	if err != nil {
		err = r.failed(ctx, err)
		slow.Stop()
		cancel(nil)
		return nil, err
	}
	if r.stream {
		slow.Stop()
	}
	resp.Body = &body{ReadCloser: resp.Body, ctx: ctx, where: r.where, close: func() { slow.Stop(); cancel(nil) }}
	if resp.StatusCode/100 == 2 {
		return resp, nil
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxErrorBytes))
	return nil, r.answered(resp.StatusCode, resp.Header, said)
}

// body is an answer's body that ends its request when it is closed, and whose
// errors say what was asked for.
type body struct {
	io.ReadCloser
	ctx   context.Context //nolint:containedctx // the request's own
	where where
	close func()
}

func (b *body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // the plain value is the end
		err = b.where.failed(b.ctx, err)
	}
	return n, err
}

func (b *body) Close() error {
	b.close()
	return b.ReadCloser.Close()
}

// call sends JSON and decodes JSON; in and out may be nil.
func (c *client) call(ctx context.Context, r request, in, out any) (http.Header, error) {
	if in != nil {
		encoded, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("E2B: %s: %w", r.op, err)
		}
		r.body = bytes.NewReader(encoded)
		r.header.Set("Content-Type", "application/json")
	}
	resp, err := c.do(ctx, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if out == nil {
		return resp.Header, nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswerBytes))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, out); err != nil {
		return nil, &TransientError{Op: r.op, Err: fmt.Errorf("the answer cannot be read: %s", r.clean(err.Error()))}
	}
	return resp.Header, nil
}

// control calls the control plane. The sandbox is empty where the call is about
// none of them.
func (c *client) control(ctx context.Context, op, method, path, sandbox string, in, out any) (http.Header, error) {
	return c.call(ctx, request{
		where:  where{op: op, sandbox: sandbox, secrets: []Secret{c.options.APIKey}},
		method: method, url: c.options.APIURL + path,
		header: http.Header{"X-API-Key": {c.options.APIKey.Reveal()}},
	}, in, out)
}

// Names of the service go into addresses, so they are looked at. The patterns of this
// package take half a millisecond to compile, which a run elsewhere does not wait for.
var (
	namePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$`)
	hostPattern = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,250}[A-Za-z0-9])?(:[0-9]{1,5})?$`)
)

func hostName(s string) bool { return hostPattern().MatchString(s) }

// envdPort is where envd listens in each sandbox.
const envdPort = "49983"

// envd speaks with the daemon in one sandbox.
type envd struct {
	*client
	id      string
	base    string
	token   Secret // of envd, where the sandbox is secure
	traffic Secret // of the way there
	version version
}

// The users of a sandbox that requests are made as.
const rootUser = "root"

// request prepares a request as one of the sandbox's users.
func (e *envd) request(op, method, path, user string) request {
	h := http.Header{
		"Authorization":            {"Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"))},
		"Connect-Protocol-Version": {"1"},
	}
	if !e.token.IsZero() {
		h.Set("X-Access-Token", e.token.Reveal())
	}
	if !e.traffic.IsZero() {
		h.Set("E2b-Traffic-Access-Token", e.traffic.Reveal())
	}
	if e.options.SandboxURL != "" {
		h.Set("E2b-Sandbox-Id", e.id)
		h.Set("E2b-Sandbox-Port", envdPort)
	}
	return request{where: where{op: op, sandbox: e.id, envd: true, secrets: []Secret{e.options.APIKey, e.token, e.traffic}}, method: method, url: e.base + path, header: h}
}

// unary calls one method of one of envd's services, as the user of programs.
func (e *envd) unary(ctx context.Context, op, method string, in, out any) error {
	_, err := e.call(ctx, e.request(op, http.MethodPost, method, sandbox.UserName), in, out)
	return err
}

// stream calls a method that answers with a stream of messages.
func (e *envd) stream(ctx context.Context, op, method, user string, in any) (*messages, error) {
	encoded, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("E2B: %s: %w", op, err)
	}
	r := e.request(op, http.MethodPost, method, user)
	r.header.Set("Content-Type", "application/connect+json")
	r.header.Set("Keepalive-Ping-Interval", "30")
	r.body, r.stream = bytes.NewReader(envelope(0, encoded)), true
	resp, err := e.do(ctx, r) //nolint:bodyclose // whoever follows the messages closes them
	if err != nil {
		return nil, err
	}
	return newMessages(resp.Body, r.where), nil
}

// patiently calls a method that may take as long as it likes.
func (e *envd) patiently(ctx context.Context, op, method, user string, in any) error {
	encoded, err := json.Marshal(in)
	if err != nil {
		return fmt.Errorf("E2B: %s: %w", op, err)
	}
	r := e.request(op, http.MethodPost, method, user)
	r.header.Set("Content-Type", "application/json")
	r.body, r.patient = bytes.NewReader(encoded), true
	resp, err := e.do(ctx, r)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}
