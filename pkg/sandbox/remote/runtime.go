package remote

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/internal/tunnel"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

const runtimeName = "remote"

// Runtime makes containers on other servers.
type Runtime struct {
	options   Options
	endpoints []*endpoint     // of the allowed region
	ctx       context.Context //nolint:containedctx // of what goes on beside, until Close
	cancel    context.CancelFunc
	going     sync.WaitGroup

	alive alive.List[*container]

	mu      sync.Mutex
	closed  bool // so that nothing more goes on beside
	looked  bool
	current *endpoint           // that the last image was asked of
	planned map[imageKey]string // the digest that was told last
	known   *sandbox.Capabilities
	told    time.Time // when known was
}

// New opens the runtime. It does not connect. What goes on beside requests has the
// values of ctx, and goes on until Close.
func New(ctx context.Context, o Options) (*Runtime, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	r := &Runtime{options: o, planned: map[imageKey]string{}}
	for i, e := range o.Endpoints {
		made, err := newEndpoint(e, o)
		if err != nil {
			return nil, fmt.Errorf("server %d: %w", i+1, err)
		}
		if o.Region == "" || e.Region == o.Region {
			r.endpoints = append(r.endpoints, made)
		}
	}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(ctx))
	return r, nil
}

// Name implements [sandbox.Runtime].
func (r *Runtime) Name() string { return runtimeName }

// beside does something in the background, unless the runtime is closed.
func (r *Runtime) beside(do func(context.Context)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return false
	}
	r.going.Go(func() { do(r.ctx) })
	return true
}

// knownAge is how long a server counts as able to do what it once said: it may be gone since.
const knownAge = 10 * time.Second

// Probe implements [sandbox.Runtime]: what the server in front can do.
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	r.mu.Lock()
	known, told := r.known, r.told
	r.mu.Unlock()
	if known != nil && time.Since(told) < knownAge {
		return *known, nil
	}
	var c sandbox.Capabilities
	err := r.try(ctx, func(e *endpoint) error {
		c = sandbox.Capabilities{}
		if err := e.get(ctx, e.quick, "v1/runtime", nil, &c); err != nil {
			return err
		}
		if err := tunnel.CheckCapabilities(&c); err != nil {
			return &refusal{reason: err.Error(), sick: true}
		}
		return nil
	})
	if err != nil {
		return sandbox.Capabilities{Runtime: runtimeName}, err
	}
	c.Runtime = runtimeName
	r.mu.Lock()
	defer r.mu.Unlock()
	r.known, r.told = &c, time.Now()
	return c, nil
}

// Image implements [sandbox.Runtime]: the toolchains of the server in front, or what
// its own runtime has in their place.
func (r *Runtime) Image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	var img sandbox.Image
	err := r.try(ctx, func(e *endpoint) (err error) {
		if img, err = e.image(ctx, spec); err != nil {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.planned) >= maxImages {
			clear(r.planned)
		}
		r.current, r.planned[keyOf(spec)] = e, img.Digest
		return nil
	})
	return img, err
}

// Kept implements [sandbox.Keeper].
func (r *Runtime) Kept(ctx context.Context, spec sandbox.Spec, name string) (bool, error) {
	var answer struct {
		Kept bool `json:"kept"`
	}
	err := r.try(ctx, func(e *endpoint) error { return e.get(ctx, e.quick, keptPath(name), r.keptQuery(spec), &answer) })
	return answer.Kept, err
}

// Keep implements [sandbox.Keeper]. The content can be sent once, so the server in
// front gets it, or none.
func (r *Runtime) Keep(ctx context.Context, spec sandbox.Spec, dir sandbox.KeptDir, content io.Reader) error {
	sent := false
	return r.try(ctx, func(e *endpoint) error {
		if sent {
			return &refusal{reason: "not tried: what is to be kept was sent already", again: true}
		}
		body := &once{from: content}
		err := e.do(ctx, e.slow, http.MethodPut, keptPath(dir.Name), r.keptQuery(spec), body, &struct{}{})
		sent = body.end()
		return err
	})
}

// once is a body that is read by one request alone, which may go on to read it after its answer.
type once struct {
	from  io.Reader
	begun atomic.Bool

	mu    sync.Mutex
	ended bool
}

func (o *once) Read(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.ended {
		return 0, net.ErrClosed
	}
	o.begun.Store(true)
	return o.from.Read(p)
}

// end has nobody read on, and tells whether somebody has. What was begun is of no use to anybody
// else, and who reads it may be waiting for it.
func (o *once) end() bool {
	if c, ok := o.from.(io.Closer); ok && o.begun.Load() {
		_ = c.Close()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ended = true
	return o.begun.Load()
}

func keptPath(name string) string { return "v1/runtime/kept/" + url.PathEscape(name) }

func (r *Runtime) keptQuery(spec sandbox.Spec) url.Values {
	q := keyOf(spec).query()
	q.Set("digest", r.plannedWith(spec))
	return q
}

// plannedWith is the digest of the image that was told last for such a container.
func (r *Runtime) plannedWith(spec sandbox.Spec) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.planned[keyOf(spec)]
}

// Create implements [sandbox.Runtime].
func (r *Runtime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	wire, err := tunnel.NewSpec(spec)
	if err != nil {
		return nil, err
	}
	wire.Digest = r.plannedWith(spec)
	var made *container
	err = r.try(ctx, func(e *endpoint) (err error) {
		made, err = r.create(ctx, e, spec, wire)
		if errors.As(err, new(*tunnel.Elsewhere)) {
			e.forgetImage(spec) // it may be that one which has changed
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// create makes a container on one server.
func (r *Runtime) create(ctx context.Context, e *endpoint, spec sandbox.Spec, wire *tunnel.Spec) (*container, error) {
	conn, err := e.connect(ctx)
	if err != nil {
		return nil, err
	}
	c := &container{runtime: r, endpoint: e, id: runtimeName + "-" + rand.Text(), spec: spec}
	c.session = tunnel.Near(r.ctx, conn, e.key.Scrub)
	answer, err := c.session.Do(ctx, tunnel.Request{Op: tunnel.OpCreate, Spec: wire})
	switch {
	case err != nil && c.session.Err() != nil && ctx.Err() == nil:
		err = &refusal{reason: "the connection was lost: " + e.key.Scrub(err.Error()), again: true, sick: true}
	case err == nil && answer.Created == nil:
		err = &refusal{reason: "it answers as no sandbox-server does", sick: true}
	case err == nil:
		err = r.alive.Add(ctx, c)
	}
	if err != nil {
		c.session.Close()
		return nil, err
	}
	c.isolation = answer.Created.Isolation
	if c.isolation.Mechanisms == nil {
		c.isolation.Mechanisms = map[string]string{}
	}
	return c, nil
}

// Close implements [sandbox.Runtime].
func (r *Runtime) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.alive.Close(r.ctx)
	r.cancel()
	r.going.Wait()
	for _, e := range r.endpoints {
		if e.http.Transport != r.options.Transport || r.options.Transport == nil {
			e.http.CloseIdleConnections()
		}
	}
	return err
}

// writable are the directories that files of a container can be reached in.
func writable(spec sandbox.Spec) []string {
	dirs := []string{sandbox.WorkspaceDir}
	if spec.BuildDisk.Bytes > 0 {
		dirs = append(dirs, sandbox.BuildDir)
	}
	return dirs
}
