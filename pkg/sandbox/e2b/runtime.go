package e2b

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/alive"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Runtime implements [sandbox.Runtime] with sandboxes of an E2B service.
type Runtime struct {
	client   *client
	instance *instance
	idle     time.Duration // how long a stream may be silent
	late     time.Duration // how long one may go on when its program was killed

	alive alive.List[*container]

	mu        sync.Mutex
	probed    bool
	builds    buildList
	reclaimed bool
}

// idleTimeout is a few of the keep-alives that streams are asked for.
const idleTimeout = 2 * time.Minute

// lateTimeout is for what a program had written, which may be on its way to a slow reader.
const lateTimeout = 2 * time.Minute

// New makes a runtime. It speaks with nobody yet: [Runtime.Probe] does.
func New(opts Options) (*Runtime, error) {
	opts, err := opts.complete()
	if err != nil {
		return nil, err
	}
	in, err := newInstance(opts.RuntimeDir)
	if err != nil {
		return nil, err
	}
	return &Runtime{
		client: &client{options: opts, http: opts.client()}, instance: in,
		idle: idleTimeout, late: lateTimeout,
	}, nil
}

// Name implements [sandbox.Runtime].
func (r *Runtime) Name() string { return "e2b" }

// Probe implements [sandbox.Runtime]: it asks the service for a list, which needs
// the key.
func (r *Runtime) Probe(ctx context.Context) (sandbox.Capabilities, error) {
	r.mu.Lock()
	probed := r.probed
	r.mu.Unlock()
	if !probed {
		if _, err := r.client.control(ctx, "ask whether the key is valid", http.MethodGet, "/v2/sandboxes?limit=1", "", nil, nil); err != nil {
			return sandbox.Capabilities{}, err
		}
		r.mu.Lock()
		r.probed = true
		r.mu.Unlock()
	}
	const template = "Make a template that has as much as you want to allow, and name it as the image"
	return sandbox.Capabilities{
		Runtime:  r.Name(),
		Levels:   []sandbox.Level{sandbox.LevelFull},
		Networks: []sandbox.NetworkMode{sandbox.NetworkNone, sandbox.NetworkLocalhost, sandbox.NetworkAllowlist, sandbox.NetworkFull},
		Mechanisms: []sandbox.Mechanism{
			{Name: "vm", State: api.Enforced, Detail: "a virtual machine for each container; the service's word, which cannot be checked from here"},
			{Name: "network", State: api.Enforced, Detail: "the service's firewall: addresses and names, no ports; loopback is always up"},
			{Name: "user", State: api.Enforced, Detail: "a user that nothing else has, and none that may become root"},
			{Name: "limit:" + sandbox.LimitDisk, State: api.Enforced, Detail: "tmpfs in the sandbox, where its template can mount"},
			{Name: "limit:" + sandbox.LimitProcesses, State: api.Enforced, Detail: "RLIMIT_NPROC of that user"},
			{Name: "limit:" + sandbox.LimitOpenFiles, State: api.Enforced, Detail: "RLIMIT_NOFILE"},
			{Name: "limit:" + sandbox.LimitCPUTime, State: api.Sampled, Detail: "of the main process and the children it has waited for"},
			{Name: "limit:" + sandbox.LimitMemory, State: api.Degraded, Detail: "what the template has, for all of the sandbox together", Mend: template},
			{Name: "limit:" + sandbox.LimitCPUs, State: api.Absent, Detail: "the cores that the template has", Mend: template},
		},
		TTY: true,
	}, nil
}

// template is what a container is made from.
func (r *Runtime) template(spec sandbox.Spec) string {
	return cmp.Or(spec.Image, r.client.options.Template)
}

// Create implements [sandbox.Runtime].
func (r *Runtime) Create(ctx context.Context, spec sandbox.Spec) (sandbox.Container, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	spec.Network = spec.Network.Normal()
	template, err := r.admit(spec)
	if err != nil {
		return nil, err
	}
	rules, err := firewall(spec.Network)
	if err != nil {
		return nil, err
	}
	plan, err := planMounts(spec.Mounts)
	if err != nil {
		return nil, err
	}
	r.reclaimOnce(ctx)
	c := &container{rt: r, spec: spec, rules: rules, current: &rules, began: time.Now(), gone: make(chan struct{})}
	c.alive, c.end = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := c.create(ctx, template, plan); err != nil {
		return nil, errors.Join(err, c.Delete(context.WithoutCancel(ctx)))
	}
	if err := r.alive.Add(ctx, c); err != nil {
		return nil, err
	}
	return c, nil
}

// admit refuses what E2B cannot make, and finds the template.
func (r *Runtime) admit(spec sandbox.Spec) (template string, err error) {
	if err := spec.Validate(); err != nil {
		return "", err
	}
	switch {
	case spec.Level == sandbox.LevelRestricted, spec.Level == sandbox.LevelNone:
		return "", &sandbox.UnsupportedError{What: "isolation " + string(spec.Level), Reason: "every sandbox of E2B is a virtual machine", Mend: "Ask for isolation full or auto"}
	case spec.WorkspaceOnDisk:
		return "", &sandbox.UnsupportedError{What: "a workspace on disk", Reason: "the disk of a sandbox has no limit for one directory", Mend: "Leave the workspace in memory"}
	}
	return r.template(spec), nil
}

// Close implements [sandbox.Runtime].
func (r *Runtime) Close() error {
	err := r.alive.Close(context.Background()) //nolint:forbidigo // closing has no caller's context, and each request has a time limit
	r.instance.release(err == nil)
	return err
}
