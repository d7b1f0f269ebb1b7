package server

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// bodyTimeout is how long a body may take to arrive: a connection of 300 KiB a
// second sends the largest default one in that time.
const bodyTimeout = time.Minute

// answerTimeout is how long one write of an answer may wait for its reader.
const answerTimeout = 30 * time.Second

// read reads the body of a request into what the executor runs.
func (s *Server) read(w http.ResponseWriter, r *http.Request) (executor.Request, error) {
	body, err := s.body(w, r)
	if err != nil {
		return executor.Request{}, err
	}
	return s.decoder.Read(r.Header.Get("Content-Type"), body)
}

// body reads the whole body. What all requests read together is bounded, and so
// is the time it may take.
func (s *Server) body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := &api.Problem{Type: wire.TypeTooLarge, Status: http.StatusRequestEntityTooLarge,
		Detail: fmt.Sprintf("the body is larger than %d MiB", s.MaxBodyBytes>>20)}
	if r.ContentLength > s.MaxBodyBytes {
		return nil, tooLarge
	}
	size := r.ContentLength
	if size < 0 {
		size = s.MaxBodyBytes // chunked: it may be as large as can be
	}
	if !s.bodies.TryAcquire(size) {
		return nil, &refusal{Problem: api.Problem{Type: wire.TypeCapacity, Status: http.StatusTooManyRequests,
			Detail: "too much is being uploaded; try again later"}, retryAfter: time.Second}
	}
	defer s.bodies.Release(size)
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyTimeout)) // not every test server can
	most := s.MaxBodyBytes
	if fault.Off("limit", "body") {
		most = math.MaxInt64
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case err != nil:
		return nil, &api.Problem{Type: wire.TypeMalformed, Status: http.StatusBadRequest, Detail: "the body did not arrive in full: " + err.Error()}
	}
	_ = control.SetReadDeadline(time.Time{})
	return body, nil
}
