package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// The types of problems that callers tell apart; see [api.Problem.Type].
const (
	TypeLanguage = "urn:sandbox-run:problem:language" // unknown, or not installed there
	TypeRate     = "urn:sandbox-run:problem:rate"
	TypeCapacity = "urn:sandbox-run:problem:capacity"
	TypeQuota    = "urn:sandbox-run:problem:quota"
)

// Error is the server's refusal: there was no run.
type Error struct {
	// Problem is what the server says. Its Status is that of the answer, also
	// where something else than a sandbox-server has answered.
	Problem api.Problem
	// RetryAfter is when another attempt makes sense; 0 if the server does not say.
	RetryAfter time.Duration
}

func (e *Error) Error() string {
	return cmp.Or(e.Problem.Detail, e.Problem.Title, http.StatusText(e.Problem.Status))
}

// ConnectionError is a server that cannot be reached, or a connection that broke
// before the answer was complete.
type ConnectionError struct {
	// Server is the URL of [New].
	Server string
	// Began tells that the answer had begun: the program may have run.
	Began bool
	Err   error
}

func (e *ConnectionError) Error() string {
	if e.Began {
		return fmt.Sprintf("the answer of %s broke off before the result: %v", e.Server, e.Err)
	}
	return fmt.Sprintf("no answer from %s: %v", e.Server, e.Err)
}
func (e *ConnectionError) Unwrap() error { return e.Err }

// RequestError is a request that cannot be sent as it is.
type RequestError struct {
	// Pointer is the JSON pointer (RFC 6901) of the field at fault.
	Pointer string
	Detail  string
}

func (e *RequestError) Error() string { return e.Pointer + ": " + e.Detail }

// ErrUntrusted is a unix socket that another user serves, who would read what is
// run and make up its results.
var ErrUntrusted = errors.New("its socket is served by another user")

// broken is the error of a connection, with an answer that had begun or without one. When it
// was ctx that ended it, ctx says so.
func (c *Client) broken(ctx context.Context, began bool, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without method and address, which we say ourselves
	}
	return &ConnectionError{Server: c.server, Began: began, Err: err}
}

func (c *Client) tooLarge() error {
	return fmt.Errorf("it is larger than %d bytes, the bound of this client", c.most)
}

// refused reads an answer that is none to the request: a problem, in which there
// may be a result after all, or something that is no sandbox-server's.
func (c *Client) refused(ctx context.Context, resp *http.Response) (*api.Result, error) {
	e := &Error{RetryAfter: retryAfter(resp.Header.Get("Retry-After"))}
	if media(resp) != mediaProblem {
		e.Problem = api.Problem{Type: "about:blank", Title: http.StatusText(resp.StatusCode), Detail: c.strange(resp)}
	} else if err := c.decode(ctx, resp, &e.Problem); err != nil {
		return nil, err
	}
	e.Problem.Status = resp.StatusCode
	if e.Problem.Result != nil {
		return c.whole(ctx, e.Problem.Result)
	}
	return nil, e
}

// strange describes an answer that no sandbox-server gives, with its beginning.
func (c *Client) strange(resp *http.Response) string {
	if to := resp.Header.Get("Location"); to != "" && resp.StatusCode/100 == 3 {
		return fmt.Sprintf("%s sends us on to %.200q, where we do not go by ourselves: name that server if it is the right one", c.server, to)
	}
	begin, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
	return strings.TrimSpace(fmt.Sprintf("%s answers %s as no sandbox-server does: %.200q", c.server, resp.Status, begin))
}

// retryAfter reads seconds, or a date.
func retryAfter(value string) time.Duration {
	if n, err := strconv.Atoi(value); err == nil {
		return max(0, time.Duration(n)*time.Second)
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// media is the type of an answer, without its parameters.
func media(resp *http.Response) string {
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return kind
}
