package e2b

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// container is one sandbox of the service.
type container struct {
	rt      *Runtime
	spec    sandbox.Spec
	label   string
	envd    *envd
	rules   rules
	current *rules // of the firewall now, if that is known; guarded by starting
	sealed  []string
	facts   facts
	began   time.Time
	// cores and memory are the template's; zero when they are not known.
	cores  float64
	memory int64
	// writable are the directories that [container.Files] opens.
	writable []string
	stands   sandbox.Isolation

	// alive ends when the container is deleted, and with it what speaks with the
	// sandbox in the background.
	alive   context.Context //nolint:containedctx // the container's life
	end     context.CancelCauseFunc
	keeping sync.WaitGroup
	gone    chan struct{} // closed when the deletion is over

	starting sync.Mutex // held by Start

	mu      sync.Mutex // guards the fields below
	running *process
	starts  int // counts, so that what is known of directories has an end
	deleted bool
	removed error // of the deletion
	broken  error
	ended   time.Time
	oom     int64
	disk    sandbox.DiskUsage
	build   sandbox.DiskUsage
}

// facts are what the set-up has found in the sandbox.
type facts struct {
	uid, gid int
	page     int64
	// tmpfs, hidden, setpriv and setsid tell what works there.
	tmpfs, hidden, setpriv, setsid bool
}

// newSandbox is the body of POST /sandboxes.
type newSandbox struct {
	TemplateID string            `json:"templateID"`
	Timeout    int               `json:"timeout"` // seconds
	Secure     bool              `json:"secure"`
	Internet   bool              `json:"allow_internet_access"`
	Network    networkBody       `json:"network"`
	Metadata   map[string]string `json:"metadata"`
}

// create makes the sandbox and the world in it.
func (c *container) create(ctx context.Context, template string, plan mountPlan) error {
	c.label = strings.ToLower(rand.Text())
	if err := c.make(ctx, template); err != nil {
		return err
	}
	c.keeping.Go(c.keepAlive)
	if err := c.look(ctx); err != nil {
		return err
	}
	if err := c.setUp(ctx, plan); err != nil {
		return err
	}
	c.writable = append(c.writable, sandbox.WorkspaceDir)
	if c.spec.BuildDisk.Bytes > 0 {
		c.writable = append(c.writable, sandbox.BuildDir)
	}
	if err := c.upload(ctx, plan); err != nil {
		return err
	}
	c.stands = c.isolation()
	return nil
}

// make asks for the sandbox. When the answer does not come, the sandbox may be
// there all the same: then it is looked for by its label.
func (c *container) make(ctx context.Context, template string) error {
	opts := c.rt.client.options
	closed := false
	body := newSandbox{
		TemplateID: template, Timeout: int(opts.Timeout / time.Second), Secure: true,
		Internet: c.rules.internet, Network: c.rules.body(),
		Metadata: map[string]string{labelInstance: c.rt.instance.name, labelContainer: c.label},
	}
	body.Network.AllowPublicTraffic = &closed
	var made struct {
		SandboxID          string `json:"sandboxID"`
		EnvdVersion        string `json:"envdVersion"`
		EnvdAccessToken    string `json:"envdAccessToken"`
		TrafficAccessToken string `json:"trafficAccessToken"`
		Domain             string `json:"domain"`
	}
	asked, stop := lingering(ctx, createGrace)
	defer stop()
	_, err := c.rt.client.control(asked, "create a sandbox from template "+template, http.MethodPost, "/sandboxes", "", body, &made)
	if err != nil {
		if errors.As(err, new(*TransientError)) || ctx.Err() != nil {
			_, _ = c.rt.deleteLabelled(context.WithoutCancel(ctx), labelContainer, c.label)
		}
		return cmp.Or(templateFault(template, err), err)
	}
	if !namePattern().MatchString(made.SandboxID) {
		_, lost := c.rt.deleteLabelled(context.WithoutCancel(ctx), labelContainer, c.label)
		return errors.Join(fmt.Errorf("E2B: the new sandbox has no usable id: %.40q", made.SandboxID), lost)
	}
	c.envd = &envd{
		client: c.rt.client, id: made.SandboxID, base: opts.SandboxURL, version: parseVersion(made.EnvdVersion),
		token: NewSecret(made.EnvdAccessToken), traffic: NewSecret(made.TrafficAccessToken),
	}
	if c.envd.base == "" {
		domain := opts.Domain
		if made.Domain != "" {
			if domain = made.Domain; !hostName(domain) {
				return fmt.Errorf("E2B: the new sandbox has no usable domain: %.40q", domain)
			}
		}
		c.envd.base = "https://" + envdPort + "-" + made.SandboxID + "." + domain
	}
	return nil
}

// createGrace is how long the answer to a creation that was called off may still
// take: it has the name by which the sandbox is deleted, and one that is being made
// is in no list yet.
const createGrace = 5 * time.Second

// lingering is a context that ends some time after ctx.
func lingering(ctx context.Context, grace time.Duration) (context.Context, func()) {
	out, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		late := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(out, func() { late.Stop() })
	})
	return out, func() { stop(); cancel(nil) }
}

// look asks how large the sandbox is.
func (c *container) look(ctx context.Context) error {
	var detail struct {
		CPUCount float64 `json:"cpuCount"`
		MemoryMB int64   `json:"memoryMB"`
	}
	_, err := c.rt.client.control(ctx, "look at the sandbox", http.MethodGet, "/sandboxes/"+c.envd.id, c.envd.id, nil, &detail)
	if err != nil {
		return err
	}
	if detail.CPUCount > 0 && detail.CPUCount <= 4096 && detail.MemoryMB > 0 && detail.MemoryMB <= 1<<30 {
		c.cores, c.memory = detail.CPUCount, detail.MemoryMB<<20
	}
	return nil
}

// setUp runs the set-up script and reads what it has found.
func (c *container) setUp(ctx context.Context, plan mountPlan) error {
	d, b := c.spec.Disk, c.spec.BuildDisk
	args := []string{number(d.Bytes), number(d.Inodes), number(b.Bytes), number(b.Inodes)}
	for _, m := range plan.empty {
		kind := "r"
		if m.Overlay {
			kind = "w"
		}
		args = append(args, kind, m.Target)
	}
	said, err := c.envd.script(ctx, "prepare the sandbox", rootUser, setupScript, args...)
	if err != nil {
		return err
	}
	c.swept(said.stdout) // how often the kernel has killed so far
	ready := false
	for _, line := range strings.Split(said.stdout, "\n") {
		key, value, _ := strings.Cut(line, " ")
		n, _ := strconv.Atoi(value)
		switch key {
		case "uid":
			c.facts.uid = n
		case "gid":
			c.facts.gid = n
		case "page":
			c.facts.page = int64(min(max(n, 0), maxPage))
		case "disk":
			c.facts.tmpfs = true
		case "proc":
			c.facts.hidden = true
		case "setpriv":
			c.facts.setpriv = true
		case "setsid":
			c.facts.setsid = true
		case "ready":
			ready = true
		}
	}
	if said.code != 0 || !ready || c.facts.uid <= 0 || c.facts.gid <= 0 {
		return fmt.Errorf("the template cannot be prepared (exit code %d): %s. It needs a root user, a shell, coreutils and mount", said.code, where{}.clean(said.stderr))
	}
	return nil
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// isolation is what stands around the container.
func (c *container) isolation() sandbox.Isolation {
	held := func(ok bool) string {
		if ok {
			return api.Enforced
		}
		return api.Absent
	}
	i := sandbox.Isolation{
		Level: sandbox.LevelFull,
		Mechanisms: map[string]string{
			"vm": api.Enforced, "user": api.Enforced, "network": api.Enforced,
			"no_new_privs": held(c.facts.setpriv), "proc": held(c.facts.hidden),
			"seccomp": api.Absent, "landlock": api.Absent, "cgroup": api.Absent,
		},
		Limits: map[string]string{
			sandbox.LimitWallTime: api.Enforced, sandbox.LimitCPUTime: api.Sampled,
			sandbox.LimitCPUs: api.Absent, sandbox.LimitMemory: api.Degraded,
			sandbox.LimitDisk: held(c.facts.tmpfs), sandbox.LimitInodes: held(c.facts.tmpfs),
			sandbox.LimitProcesses: api.Enforced, sandbox.LimitOpenFiles: api.Enforced,
		},
		LeastMemoryBytes: c.memory,
	}
	size := "an unknown size"
	if c.memory > 0 {
		size = fmt.Sprintf("%d MiB and %g cores", c.memory>>20, c.cores)
	} else {
		i.Limits[sandbox.LimitMemory] = api.Absent
	}
	i.Warnings = append(i.Warnings, "memory and CPUs are those of the E2B template ("+size+"), whatever the request asks for")
	if !c.facts.tmpfs {
		i.Warnings = append(i.Warnings, "the disk limit is not held: the E2B template cannot mount a tmpfs")
	}
	if !c.facts.setpriv {
		i.Warnings = append(i.Warnings, "programs that are setuid work in the E2B template: it has no setpriv")
	}
	return i
}

// ID implements [sandbox.Container].
func (c *container) ID() string { return c.envd.id }

// Isolation implements [sandbox.Container].
func (c *container) Isolation() sandbox.Isolation { return c.stands }

// Files implements [sandbox.Container].
func (c *container) Files(dir string) (sandbox.FileTree, error) {
	for _, known := range c.writable {
		if path.Clean(dir) == known {
			return &fileTree{c: c, root: known}, nil
		}
	}
	return nil, fmt.Errorf("the container has no writable directory %s", dir)
}

// keepAlive prolongs the sandbox's life while the container is there.
func (c *container) keepAlive() {
	opts := c.rt.client.options
	tick := time.NewTicker(opts.Timeout / 3)
	defer tick.Stop()
	for {
		select {
		case <-c.alive.Done():
			return
		case <-tick.C:
			body := map[string]int{"timeout": int(opts.Timeout / time.Second)}
			// What fails is tried again, and in the end the sandbox is gone.
			_, _ = c.rt.client.control(c.alive, "prolong the sandbox", http.MethodPost, "/sandboxes/"+c.envd.id+"/timeout", c.envd.id, body, nil)
		}
	}
}

// Delete implements [sandbox.Container].
func (c *container) Delete(ctx context.Context) error {
	c.mu.Lock()
	if c.deleted {
		c.mu.Unlock()
		select {
		case <-c.gone:
			return c.removed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	c.deleted = true
	running := c.running
	c.mu.Unlock()
	defer close(c.gone)
	if c.envd != nil {
		c.removed = c.rt.client.kill(context.WithoutCancel(ctx), c.envd.id)
	}
	c.end(errDeleted)
	c.keeping.Wait()
	c.mu.Lock()
	c.ended = time.Now()
	c.mu.Unlock()
	if running != nil {
		<-running.Done()
	}
	c.rt.alive.Forget(c)
	return c.removed
}

var errDeleted = errors.New("the container was deleted")

// kill deletes a sandbox. It is tried again, because what stays costs money; one
// that is gone is no error.
func (c *client) kill(ctx context.Context, id string) error {
	err := again(ctx, func() error {
		_, err := c.control(ctx, "delete the sandbox", http.MethodDelete, "/sandboxes/"+id, id, nil, nil)
		return err
	})
	switch {
	case errors.As(err, new(*GoneError)):
		return nil
	case temporary(err):
		return fmt.Errorf("%w; it ends by itself when its time is over", err)
	}
	return err
}

// again does what may be done more than once, until it works, or fails for good.
func again(ctx context.Context, do func() error) (err error) {
	const tries, pause = 3, 200 * time.Millisecond
	for try := range tries {
		if err = do(); !temporary(err) || try == tries-1 {
			break
		}
		select {
		case <-time.After(pause << try):
		case <-ctx.Done():
			return err
		}
	}
	return err
}

// temporary tells failures that may be gone at the next try of the same.
func temporary(err error) bool {
	return errors.As(err, new(*TransientError)) || errors.As(err, new(*QuotaError))
}

// Cost implements [sandbox.Priced]. It is false without prices, and where the
// sandbox's size is not known.
func (c *container) Cost() (sandbox.Cost, bool) {
	p := c.rt.client.options.Prices
	if c.memory == 0 || p == (Prices{}) {
		return sandbox.Cost{}, false
	}
	c.mu.Lock()
	until := c.ended
	c.mu.Unlock()
	if until.IsZero() {
		until = time.Now()
	}
	cost := sandbox.Cost{Seconds: until.Sub(c.began).Seconds(), CPUs: c.cores, MemoryBytes: c.memory}
	cost.Amount = cost.Seconds * (cost.CPUs*p.PerVCPUSecond + float64(cost.MemoryBytes)/(1<<30)*p.PerGiBSecond)
	return cost, true
}
