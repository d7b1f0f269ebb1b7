package server

import (
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// read reads the body of a request into what the executor runs. What it takes room for stays taken
// until the caller releases it.
func (s *Server) read(w http.ResponseWriter, r *http.Request, from *arrivingBody) (executor.Request, error) {
	body, err := s.body(w, r, from)
	if err != nil {
		return executor.Request{}, err
	}
	return s.decoder.Read(r.Header.Get("Content-Type"), body)
}

// bodyShare is how many bodies of the largest size may be arriving, or be looked at before their runs
// have a place, together. A tenant has half of them at most.
const bodyShare = 8

// bodies is what is arriving and looked at, in bytes. What is announced and does not come takes no
// room, and nobody takes the last of it.
type bodies struct {
	most int64

	mu  sync.Mutex
	sum int64
	of  map[string]int64 // by tenant
}

func newBodies(most int64) *bodies { return &bodies{most: most, of: map[string]int64{}} }

// fits tells whether there is room for n bytes more of a tenant's.
func (b *bodies) fits(tenant string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.room(tenant, n)
}

func (b *bodies) room(tenant string, n int64) bool {
	return b.sum+n <= b.most && b.of[tenant]+n <= b.most/2
}

// take takes room, if there is any.
func (b *bodies) take(tenant string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.room(tenant, n) {
		return false
	}
	b.sum, b.of[tenant] = b.sum+n, b.of[tenant]+n
	return true
}

func (b *bodies) release(tenant string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sum, b.of[tenant] = b.sum-n, b.of[tenant]-n
	if b.of[tenant] == 0 {
		delete(b.of, tenant)
	}
}

// arrivingBody is a body that takes room for what has come of it.
type arrivingBody struct {
	io.ReadCloser
	bodies *bodies
	tenant string
	taken  int64
}

var errTooManyBodies = errors.New("too much is arriving")

func (a *arrivingBody) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if !a.bodies.take(a.tenant, int64(n)) {
		return 0, errTooManyBodies
	}
	a.taken += int64(n)
	return n, err
}

// release gives the room back.
func (a *arrivingBody) release() {
	a.bodies.release(a.tenant, a.taken)
	a.taken = 0
}

// body reads the whole body. What all requests read together is bounded, and so
// is the time it may take.
func (s *Server) body(w http.ResponseWriter, r *http.Request, from *arrivingBody) ([]byte, error) {
	tooLarge := &api.Problem{Type: wire.TypeTooLarge, Status: http.StatusRequestEntityTooLarge,
		Detail: fmt.Sprintf("the body is larger than %d MiB", s.MaxBodyBytes>>20)}
	tooMuch := &refusal{Problem: api.Problem{Type: wire.TypeCapacity, Status: http.StatusTooManyRequests,
		Detail: "too much is being uploaded; try again later"}, retryAfter: time.Second}
	switch {
	case r.ContentLength > s.MaxBodyBytes:
		return nil, tooLarge
	case !s.bodies.fits(from.tenant, max(1, r.ContentLength)):
		return nil, tooMuch
	}
	most := s.MaxBodyBytes
	if fault.Off("limit", "body") {
		most = math.MaxInt64
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, from, most))
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, errTooManyBodies):
		return nil, tooMuch
	case err != nil:
		return nil, &api.Problem{Type: wire.TypeMalformed, Status: http.StatusBadRequest, Detail: "the body did not arrive in full: " + err.Error()}
	}
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // not every test server can
	return body, nil
}
