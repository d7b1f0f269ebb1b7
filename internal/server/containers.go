package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/coder/websocket"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/internal/wire"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Containers are what other servers may have here.
type Containers struct {
	// Config holds the limits that containers have here, and where toolchains are.
	Config executor.Config
	// Kept has the caches of other servers.
	Kept *kept.Store
	// Overtime is how much longer than its wall clock a program lives here: the near side ends
	// it, and gracefully; this is for one that does not. What it has written may take as long
	// again to be taken. Zero is 10 seconds.
	Overtime time.Duration
	// Look is how often it is looked whether who has a container may have it still. Zero is 5
	// seconds.
	Look time.Duration
	// Life is how long a container may be there. Zero is what the longest run takes, with what it
	// waits for.
	Life time.Duration
	// Node is the name of this machine.
	Node string
	// MayReach refuses networks that the operator does not give; nil is as strict as
	// with every other caller: nothing but the public internet.
	MayReach func(sandbox.NetworkPolicy) error
}

const (
	usualOvertime = 10 * time.Second
	usualLook     = 5 * time.Second
)

func (c *Containers) mayReach(p sandbox.NetworkPolicy) error {
	if c.MayReach != nil {
		return c.MayReach(p)
	}
	return boundNetwork(p)
}

// node tells this server from all others, so that one finds out that it is its own
// remote.
func newNode() string { return rand.Text() }

// runtimeRoutes are those of other servers that use this one as their runtime.
func (s *Server) runtimeRoutes(mux *http.ServeMux) {
	if s.Containers == nil {
		return
	}
	mux.HandleFunc("GET /v1/runtime", s.forServers(s.capabilities))
	mux.HandleFunc("GET /v1/runtime/image", s.forServers(s.image))
	mux.HandleFunc("GET /v1/runtime/kept/{name}", s.forServers(s.has))
	mux.HandleFunc("PUT /v1/runtime/kept/{name}", s.forServers(s.keep))
	mux.HandleFunc("GET /v1/runtime/containers", s.forServers(s.container))
}

// forServers lets in who may use this server as a runtime: keys with the scope,
// and, where there are none, this machine's users.
func (s *Server) forServers(next func(http.ResponseWriter, *http.Request, auth.Principal) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		who, err := s.principal(r)
		if err == nil {
			err = s.mayHaveContainers(r, who)
		}
		if err == nil {
			var via []string
			if via, err = s.via(r); err == nil {
				err = next(w, r.WithContext(tunnel.WithVia(r.Context(), via)), who)
			}
		}
		if err != nil {
			s.failRuntime(w, r, err)
		}
	}
}

func (s *Server) mayHaveContainers(r *http.Request, who auth.Principal) error {
	_, local := r.Context().Value(peerKey).(uint32)
	if local || s.Keys == nil && s.LoopbackOnly || slices.Contains(who.Scopes, auth.ScopeRuntime) {
		return nil
	}
	return &api.Problem{Type: wire.TypeForbidden, Status: http.StatusForbidden, Detail: fmt.Sprintf(
		"this key may run programs, and not have containers for another server: make one that may, with sandbox-server keys create --scope %s", auth.ScopeRuntime)}
}

// via are the servers that a request has come through, this one the last.
func (s *Server) via(r *http.Request) ([]string, error) {
	nodes := r.Header.Values(tunnel.ViaHeader)
	if slices.Contains(nodes, s.node) || len(nodes) >= tunnel.MaxVia {
		return nil, &api.Problem{Type: wire.TypeForbidden, Status: http.StatusLoopDetected,
			Detail: "the request has come round to this server, or through too many: a server's remote must not lead back to it"}
	}
	return append(slices.Clone(nodes), s.node), nil
}

// runtimeProblem is a problem that carries an error of the runtime as such.
type runtimeProblem struct {
	api.Problem
	Error *tunnel.Error `json:"error"`
}

func (s *Server) failRuntime(w http.ResponseWriter, r *http.Request, err error) {
	if e := tunnel.NewError(err); e.Kind != "" {
		e.Rewrite(s.Executor.Told)
		s.answer(w, http.StatusUnprocessableEntity, "application/problem+json", runtimeProblem{api.Problem{
			Type: wire.TypeUnsupported, Status: http.StatusUnprocessableEntity, Title: http.StatusText(http.StatusUnprocessableEntity),
			Detail: s.Executor.Told(err.Error()), RequestID: requestID(r)}, e})
		return
	}
	if p, _ := problem(err); p.Status == http.StatusInternalServerError {
		// The other server's operator has to know what is wrong with its runtime.
		p.Detail = s.Executor.Told(err.Error())
		if errors.Is(err, syscall.EAGAIN) {
			p.Status = http.StatusServiceUnavailable
		}
		err = p
		if p.Status == http.StatusServiceUnavailable {
			err = &refusal{Problem: *p, retryAfter: time.Second}
		}
	}
	s.fail(w, r, err)
}

// capabilities answers GET /v1/runtime.
func (s *Server) capabilities(w http.ResponseWriter, r *http.Request, _ auth.Principal) error {
	c, err := s.abilities(r.Context())
	if err != nil {
		return err
	}
	if least := s.least(); least != sandbox.LevelAuto { // what is weaker is not for callers
		c.Levels = slices.DeleteFunc(slices.Clone(c.Levels), func(l sandbox.Level) bool { return strength[l] < strength[least] })
	} else {
		c.Levels = c.Levels[:min(1, len(c.Levels))]
	}
	c.WorkspaceOnDisk = false // which is for whoever calls sandbox-run: that disk is the host's
	s.answer(w, http.StatusOK, "application/json", c)
	return nil
}

// image answers GET /v1/runtime/image.
func (s *Server) image(w http.ResponseWriter, r *http.Request, _ auth.Principal) error {
	root, err := s.rootOf(r.Context(), specOf(r))
	if err != nil {
		return err
	}
	s.answer(w, http.StatusOK, "application/json", root.Image)
	return nil
}

func specOf(r *http.Request) sandbox.Spec {
	q := r.URL.Query()
	return sandbox.Spec{Image: q.Get("image"), Language: q.Get("language"), Version: q.Get("version")}
}

// keyOf is what a caller's directory is kept under: by the caller's key, so that
// nobody can fill what another reads, and by the image that it was made with.
func keyOf(who auth.Principal, image sandbox.Image, name string) kept.Key {
	return kept.Key{Owner: who.Tenant + "\x00" + who.KeyID, Tenant: who.Tenant, Image: image.Digest, Name: name}
}

// has answers GET /v1/runtime/kept/{name}.
func (s *Server) has(w http.ResponseWriter, r *http.Request, who auth.Principal) error {
	root, err := s.planned(r.Context(), specOf(r), r.URL.Query().Get("digest"))
	if err != nil {
		return err
	}
	ok, err := s.Containers.Kept.Has(keyOf(who, root.Image, r.PathValue("name")))
	if err != nil {
		return wire.Invalid(api.ProblemError{Detail: err.Error()})
	}
	s.answer(w, http.StatusOK, "application/json", map[string]bool{"kept": ok})
	return nil
}

// keepTimeout is how long what is kept may take to arrive.
const keepTimeout = 10 * time.Minute

// keep answers PUT /v1/runtime/kept/{name}.
func (s *Server) keep(w http.ResponseWriter, r *http.Request, who auth.Principal) error {
	if err := s.drained(); err != nil {
		return err
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(keepTimeout)) // not every test server can
	defer func() {                                           // for what was not read
		_ = control.SetReadDeadline(time.Now().Add(s.BodyTimeout))
	}()
	root, err := s.planned(r.Context(), specOf(r), r.URL.Query().Get("digest"))
	if err != nil {
		return err
	}
	if err := s.Containers.Kept.Keep(r.Context(), keyOf(who, root.Image, r.PathValue("name")), r.Body); err != nil {
		return keepProblem(err)
	}
	s.answer(w, http.StatusOK, "application/json", map[string]bool{"kept": true})
	return nil
}

func (s *Server) drained() error {
	if !s.draining.Load() {
		return nil
	}
	return &refusal{Problem: api.Problem{Type: wire.TypeDraining, Status: http.StatusServiceUnavailable, Detail: "this server is shutting down"}, retryAfter: time.Second}
}

// container answers GET /v1/runtime/containers: the connection of one container.
func (s *Server) container(w http.ResponseWriter, r *http.Request, who auth.Principal) error {
	if err := s.drained(); err != nil {
		return err
	}
	charged, err := s.charge(who)
	if err != nil {
		return err
	}
	defer charged.Release()
	if err := s.Ledger.Look(who.Tenant); err != nil {
		return err
	}
	arrived, err := s.arriving.enter(who.Tenant)
	if err != nil {
		return err
	}
	defer arrived()
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{Subprotocols: []string{tunnel.Protocol}})
	if err != nil {
		s.Log.Debug("no connection for a container", "request_id", requestID(r), "error", err.Error())
		return nil // it was answered
	}
	if conn.Subprotocol() != tunnel.Protocol {
		_ = conn.Close(websocket.StatusPolicyViolation, "name the subprotocol "+tunnel.Protocol)
		return nil
	}
	s.guests.Add(1)
	defer s.guests.Done()
	s.host(r, who, charged, conn, arrived)
	return nil
}

// maxArriving is how many connections a tenant may have that have not asked for their
// containers yet, which they do at once: they hold no place.
const maxArriving = 128

// arriving counts them.
type arriving struct {
	mu      sync.Mutex
	tenants map[string]int
}

// enter counts a connection until leave is called.
func (a *arriving) enter(tenant string) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.tenants[tenant] >= maxArriving {
		return nil, &refusal{Problem: api.Problem{Type: wire.TypeCapacity, Status: http.StatusTooManyRequests,
			Detail: fmt.Sprintf("%d connections have not asked for their containers yet", maxArriving)}, retryAfter: time.Second}
	}
	if a.tenants == nil {
		a.tenants = map[string]int{}
	}
	a.tenants[tenant]++
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.tenants[tenant]--; a.tenants[tenant] == 0 {
			delete(a.tenants, tenant)
		}
	}), nil
}

// host has a container as long as its connection lasts.
func (s *Server) host(r *http.Request, who auth.Principal, charged *auth.Run, conn *websocket.Conn, arrived func()) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	defer cancel(nil)
	ended := context.AfterFunc(s.runs, func() { cancel(errShuttingDown) })
	defer ended()
	h := &hosted{
		s: s, r: r, who: who, charged: charged, ctx: ctx, hangUp: cancel, arrived: arrived, began: time.Now(),
		idle: time.AfterFunc(createWithin, func() { cancel(errIdle) }),
	}
	session := tunnel.Far(ctx, conn, h.serve)
	h.watch(session)
	h.end(session)
}

// watch waits for the end of the connection. It ends one whose owner may have it no more, or that
// has lasted for longer than a run takes: what it holds is wanted by others.
func (h *hosted) watch(session *tunnel.Session) {
	c := h.s.Containers
	look := time.NewTicker(cmp.Or(c.Look, usualLook))
	defer look.Stop()
	most := cmp.Or(c.Life, containerIdle+runPrograms*c.longest())
	old := time.AfterFunc(most, func() { h.hangUp(fmt.Errorf("the container has been there for %v, the most that one may", most)) })
	defer old.Stop()
	for {
		select {
		case <-session.Done():
			return
		case <-look.C:
			_, _ = h.owner() // which hangs up
		}
	}
}

// allowedImage holds a caller to the images that the operator lets callers name.
func (s *Server) allowedImage(name string) error {
	images := s.Containers.Config.Images
	if name == "" || images == nil || sandbox.MatchImage(images, name) {
		return nil
	}
	return &sandbox.UnsupportedError{What: fmt.Sprintf("the image %.100q", name), Reason: "the operator of the other server names those that may be asked for (SANDBOX_IMAGES)"}
}
