package e2b

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// KeyError says that the service does not take the key.
type KeyError struct {
	Status int
	Detail string // what the service says of it
}

func (e *KeyError) Error() string {
	return fmt.Sprintf("E2B does not take the key: %s (HTTP %d). Set E2B_API_KEY, or the file that holds it, to a key that is valid there", strings.TrimSuffix(e.Detail, "."), e.Status)
}

// QuotaError says that the service refuses for now: too many requests or too many
// sandboxes. It may be tried again, and matches [syscall.EAGAIN].
type QuotaError struct {
	// RetryAfter is when the service says so; zero when it does not.
	RetryAfter time.Duration
	Detail     string
}

func (e *QuotaError) Error() string {
	when := "try again later"
	if e.RetryAfter > 0 {
		when = fmt.Sprintf("try again in %v", e.RetryAfter)
	}
	return fmt.Sprintf("E2B's quota or rate limit is used up: %s; %s", e.Detail, when)
}

// Is makes it one of the failures that may be gone at the next try.
func (*QuotaError) Is(target error) bool { return target == syscall.EAGAIN }

// TransientError is a failure of the service, or of the way there, that may be
// gone at the next try. It matches [syscall.EAGAIN].
type TransientError struct {
	// Op is what was asked for.
	Op  string
	Err error
}

func (e *TransientError) Error() string { return fmt.Sprintf("E2B: %s: %v", e.Op, e.Err) }
func (e *TransientError) Unwrap() error { return e.Err }

// Is makes it one of the failures that may be gone at the next try.
func (*TransientError) Is(target error) bool { return target == syscall.EAGAIN }

// Timeout tells that it may be tried again where errno values mean nothing.
func (*TransientError) Timeout() bool { return true }

// GoneError says that the sandbox is not there any more. Another one may serve
// the same request, so it matches [syscall.EAGAIN].
type GoneError struct{ ID, Detail string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the E2B sandbox %s is gone: %s", e.ID, e.Detail)
}

// Is makes it one of the failures that may be gone at the next try.
func (*GoneError) Is(target error) bool { return target == syscall.EAGAIN }

// answerError is any other refusal of the service.
type answerError struct {
	op      string
	status  int    // of HTTP, or 0
	code    string // of Connect, or empty
	message string
	cause   error // what it means here, for errors.Is
}

func (e *answerError) Error() string {
	what := e.code
	if what == "" {
		what = fmt.Sprintf("HTTP %d", e.status)
	}
	return fmt.Sprintf("E2B: %s: %s (%s)", e.op, e.message, what)
}

func (e *answerError) Unwrap() error { return e.cause }

// maxErrorBytes is how much of an answer's body is looked at when it is an error,
// and maxMessage how much of that a message shows.
const (
	maxErrorBytes = 16 << 10
	maxMessage    = 300
)

// where is whom an answer came from.
type where struct {
	op      string
	sandbox string // its id; empty for requests about none
	envd    bool   // it came from inside the sandbox, or from the way there
	secrets []Secret
}

// answered turns an HTTP answer that is no success into an error.
func (w where) answered(status int, header http.Header, body []byte) error {
	var said struct {
		Code    json.RawMessage `json:"code"` // a word of Connect, or a number
		Message string          `json:"message"`
	}
	_ = json.Unmarshal(body, &said)
	var code string
	_ = json.Unmarshal(said.Code, &code)
	message := w.clean(said.Message, string(body))
	switch {
	case code != "":
		return w.connect(code, message, retryAfter(header))
	case (status == http.StatusUnauthorized || status == http.StatusForbidden) && !w.envd:
		return &KeyError{Status: status, Detail: message}
	case status == http.StatusTooManyRequests:
		return &QuotaError{RetryAfter: retryAfter(header), Detail: message}
	case status == http.StatusNotFound && w.sandbox != "" && !w.envd, status == http.StatusBadGateway && w.envd:
		return &GoneError{ID: w.sandbox, Detail: message}
	case status == http.StatusInsufficientStorage:
		return &answerError{w.op, status, "", message, syscall.ENOSPC}
	case status == http.StatusNotFound:
		return &answerError{w.op, status, "", message, fs.ErrNotExist}
	case status >= 500 && status != http.StatusNotImplemented, status == http.StatusRequestTimeout:
		return &TransientError{Op: w.op, Err: fmt.Errorf("%s (HTTP %d)", message, status)}
	}
	return &answerError{w.op, status, "", message, nil}
}

// connect turns an error of the Connect protocol into one of ours.
func (w where) connect(code, message string, after time.Duration) error {
	refused := &answerError{op: w.op, code: code, message: message}
	switch code {
	case "resource_exhausted":
		return &QuotaError{RetryAfter: after, Detail: message}
	case "unavailable", "deadline_exceeded", "aborted":
		return &TransientError{Op: w.op, Err: fmt.Errorf("%s (%s)", message, code)}
	case "not_found":
		refused.cause = fs.ErrNotExist
	case "already_exists":
		refused.cause = fs.ErrExist
	case "permission_denied":
		refused.cause = fs.ErrPermission
	}
	return refused
}

// failed turns an error of the way to the service into one of ours. What the
// caller called off stays what it is.
func (w where) failed(ctx context.Context, err error) error {
	switch {
	case errors.Is(context.Cause(ctx), errSlow):
		return &TransientError{Op: w.op, Err: errSlow}
	case ctx.Err() != nil:
		return fmt.Errorf("E2B: %s: %w", w.op, context.Cause(ctx))
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return fmt.Errorf("E2B: %s: there is no host %s: look at E2B_API_URL, E2B_SANDBOX_URL and the domain", w.op, dns.Name)
	}
	var way *url.Error
	if errors.As(err, &way) {
		err = fmt.Errorf("the service cannot be reached: %w. Look at E2B_API_URL and E2B_SANDBOX_URL", way.Err)
	}
	return &TransientError{Op: w.op, Err: errors.New(w.clean(err.Error(), ""))}
}

var errSlow = errors.New("the service did not answer in time")

// clean makes what the service says fit into a message: one line, bounded, without
// the keys that it was sent.
func (w where) clean(texts ...string) string {
	for _, text := range texts {
		for _, secret := range w.secrets {
			text = secret.Scrub(text)
		}
		text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
		if len(text) > maxMessage {
			text = strings.ToValidUTF8(text[:maxMessage], "") + "…"
		}
		if text != "" {
			return strings.ToValidUTF8(text, "�")
		}
	}
	return "it gives no reason"
}

// retryAfter reads the header in both of its forms (RFC 9110, 10.2.3).
func retryAfter(header http.Header) time.Duration {
	const most = 24 * time.Hour
	value := header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil {
		return min(max(0, time.Duration(min(seconds, 1<<20))*time.Second), most)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(0, time.Until(at)), most)
	}
	return 0
}
