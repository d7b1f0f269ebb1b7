package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// answer is what a caller was told.
type answer struct {
	code    int
	problem api.Problem // of an answer that is no result
	api.Result
	err  error // nothing was told
	took time.Duration
}

func (a answer) String() string {
	switch {
	case a.err != nil:
		return fmt.Sprintf("after %v no answer: %v", a.took, a.err)
	case a.code != http.StatusOK:
		return fmt.Sprintf("%d %s: %s (status %s)", a.code, a.problem.Type, a.problem.Detail, a.Status)
	}
	return fmt.Sprintf("status %s, exit code %d, %s, stdout %.300q, stderr %.600q, %d files, warnings %q", a.Status, a.ExitCode, a.Message, a.Stdout, a.Stderr, len(a.Files), a.Meta.Warnings)
}

// caller has no connection left over from the request before, which a fault could be
// meant for. Its timeout is what bounds an answer.
var caller = &http.Client{Timeout: 15 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// execute runs a request.
func (s *server) execute(req api.Request) answer { return s.executeUntil(context.Background(), req) }

// executeUntil runs a request, unless the caller leaves before.
func (s *server) executeUntil(ctx context.Context, req api.Request) (a answer) {
	begin := time.Now()
	defer func() { a.took = time.Since(begin) }()
	body, err := json.Marshal(req)
	if err != nil {
		return answer{err: err}
	}
	post, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/execute", bytes.NewReader(body))
	if err != nil {
		return answer{err: err}
	}
	post.Header.Set("Content-Type", "application/json")
	resp, err := caller.Do(post)
	if err != nil {
		return answer{err: err}
	}
	defer resp.Body.Close()
	content, err := io.ReadAll(io.LimitReader(resp.Body, 64<<20))
	if err != nil {
		return answer{err: err}
	}
	a.code = resp.StatusCode
	if a.code == http.StatusOK {
		a.err = json.Unmarshal(content, &a.Result)
		return a
	}
	if a.err = json.Unmarshal(content, &a.problem); a.problem.Result != nil {
		a.Result = *a.problem.Result
	}
	if a.code == http.StatusServiceUnavailable && resp.Header.Get("Retry-After") == "" {
		a.err = fmt.Errorf("a 503 without Retry-After: %s", content)
	}
	return a
}

// filtered tells whether a program was ended by its filter: to make a call fail strace
// turns it into one that is none, for which the filter kills.
func (a answer) filtered() bool {
	return a.ExitCode == 128+int(syscall.SIGSYS) || strings.Contains(a.Stdout+a.Stderr, "Bad system call")
}

// internals are words of ours that tell a person nothing.
var internals = regexp.MustCompile(`runtime error|nil pointer|goroutine|use of closed|<nil>|%!|file already closed`)

// bare is a message that names no step: what the kernel or a library said alone.
var bare = regexp.MustCompile(`^The sandbox failed: (context deadline exceeded|context canceled|EOF|unexpected EOF|[a-z ]+ error|(errno \d+|no such file or directory|input/output error|cannot allocate memory|too many open files( in system)?|permission denied|operation not permitted|no space left on device|resource temporarily unavailable|device or resource busy|interrupted system call|invalid argument|function not implemented|bad file descriptor))$`)

// places are directories of this host that a server works in, which are none of the
// caller's business.
var places = regexp.MustCompile(`/tmp/|/run/sandbox-run|/root/`)

// explains tells whether a failure of ours was told as one: with the step, for a person.
func (a answer) explains() (why string) {
	detail := a.problem.Detail
	switch {
	case a.code != http.StatusInternalServerError && a.code != http.StatusServiceUnavailable:
		return fmt.Sprintf("a failure of ours is told with %d", a.code)
	case a.problem.Result == nil || a.Status != api.StatusSandboxError:
		return "a failure of ours without a sandbox_error"
	case a.Retryable == nil || *a.Retryable != (a.code == http.StatusServiceUnavailable):
		return "it is not said whether to try again"
	case internals.MatchString(detail):
		return "the message has words of ours"
	case places.MatchString(detail):
		return "the message tells of this host's directories"
	case bare.MatchString(strings.TrimSpace(detail)):
		return "the message names no step"
	}
	return ""
}
