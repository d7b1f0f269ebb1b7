// Package daemon is the life of sandbox-server: it starts, serves, drains and
// ends.
//
//	reclaim what an earlier life left → open → listen → ready → SIGTERM → drain → end
package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/coreos/go-systemd/v22/daemon"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/capacity"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/engine"
	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kept"
	"github.com/sandbox-run/sandbox-run/internal/server"
	"github.com/sandbox-run/sandbox-run/internal/store"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Timeouts of connections; those of bodies and answers are the server's.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	maxHeader     = 32 << 10
	stalled       = time.Minute // of a connection of many streams that takes nothing
)

// heartbeat keeps the usual proxies, which give up after 30 seconds or a minute,
// from closing a silent stream.
const heartbeat = 10 * time.Second

// maxOutput is the most of a stream that a caller may have kept, unless the
// operator's default is more: a result holds it several times while it is written.
const maxOutput = 1 << 20

// lastWords is how long answers to cancelled runs may take at the end.
const lastWords = 5 * time.Second

// Daemon is a server that is ready to serve.
type Daemon struct {
	// FirstKey is the key that this start has made, if it has: it can be shown
	// now and never again.
	FirstKey string

	cfg      config.Config
	version  string
	log      *slog.Logger
	runtime  sandbox.Runtime
	warnings []string // of what was asked for and is not there
	store    *store.Store
	kept     *kept.Store
	keys     *auth.Authenticator // nil without keys
	watching sync.WaitGroup
	watched  context.Context // of what goes on beside serving
	unwatch  context.CancelFunc
	executor *executor.Executor
	server   *server.Server
	http     *http.Server
	listener net.Listener
}

// New opens everything that the configuration names and listens, but does not
// answer yet. What an earlier life left behind is gone when it returns.
//
// The order is not free: an earlier life's containers would be taken for this one's,
// nobody gets a sandbox that was not looked at, and a key is made when nothing can fail
// any more, since it is shown once.
func New(ctx context.Context, cfg config.Config, version string, log *slog.Logger) (_ *Daemon, err error) {
	d := &Daemon{cfg: withCeilings(cfg), version: version, log: log}
	d.watched, d.unwatch = context.WithCancel(context.WithoutCancel(ctx))
	defer func() {
		if err != nil {
			_ = d.close()
		}
	}()
	if err := cmp.Or(checkTLS(cfg.Server), checkKeys(cfg.Server)); err != nil {
		return nil, &usageError{err}
	}
	for _, step := range []func(context.Context) error{
		d.reclaim, d.openStore, d.openRuntime, d.inspect, d.openServer, d.listen, d.markLost, d.makeKey,
	} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (d *Daemon) openRuntime(ctx context.Context) (err error) {
	d.runtime, d.warnings, err = engine.Open(ctx, d.cfg, engine.Runtimes(ctx, d.cfg, engine.Options{Getenv: os.Getenv, Notify: d.note, Many: true}))
	for _, w := range d.warnings {
		d.log.Warn(w)
	}
	return err
}

// executorConfig is how programs are run for strangers.
func (d *Daemon) executorConfig(l capacity.Limits) executor.Config {
	conf := engine.Executor(d.cfg, d.runtime.Name(), os.Getenv, d.warnings, d.note)
	if conf.Images == nil && d.runtime.Name() != "local" && d.runtime.Name() != "oci" {
		conf.Images = []string{} // what else an engine has is none of the callers' business
	}
	conf.Told = engine.Told(d.cfg, os.Getenv)
	conf.Heartbeat = heartbeat
	conf.OutputCeilingBytes = max(maxOutput, d.cfg.MaxOutputBytes)
	conf.Ceilings.OpenFiles = openFiles()
	conf.Warm = d.warm(l)
	return conf
}

func (d *Daemon) openServer(ctx context.Context) error {
	limits, err := limits(d.cfg)
	if err != nil {
		return err
	}
	if compile := d.cfg.CompileMemoryBytes; compile > limits.MemoryBytes {
		d.log.Warn("nothing can be compiled or installed here: lower SANDBOX_COMPILE_MEMORY_MB or raise SANDBOX_TOTAL_MEMORY_MB", "takes_mb", compile>>20, "granted_mb", limits.MemoryBytes>>20)
	}
	conf := d.executorConfig(limits)
	containers, err := d.containers(conf)
	if err != nil {
		return err
	}
	d.executor = executor.New(d.runtime, conf)
	d.server, err = server.New(ctx, server.Options{
		Containers: containers,
		Executor:   d.executor, Runtime: d.runtime, Ledger: capacity.New(limits), Log: d.log, Version: d.version,
		Keys: d.keys, Store: d.store, Isolation: d.cfg.Isolation, Imports: conf.Imports,
		MaxBodyBytes: d.cfg.Server.MaxBodyBytes, LoopbackOnly: d.keys == nil && !d.cfg.Server.Insecure,
	})
	return err
}

func (d *Daemon) listen(ctx context.Context) (err error) {
	headers := headerTimeout
	if fault.Off("limit", "headers") {
		headers = time.Hour
	}
	d.http = &http.Server{
		Handler: d.server, ReadHeaderTimeout: headers, IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeader,
		ConnContext: withPeer,
		HTTP2:       &http.HTTP2Config{WriteByteTimeout: stalled},
		ErrorLog:    slog.NewLogLogger(d.log.Handler(), slog.LevelDebug), // what clients do wrong is no error of ours
	}
	at := address(d.cfg.Server)
	d.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", at)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("another program listens on %s: end it, or choose another SANDBOX_PORT", at)
	}
	if err != nil {
		return fmt.Errorf("cannot listen on %s, which SANDBOX_ADDR and SANDBOX_PORT name: %w", at, err)
	}
	return nil
}

// note says what takes long.
func (d *Daemon) note(message string) { d.log.Info(message) }

func (d *Daemon) reclaim(context.Context) error {
	removed, err := engine.ReclaimHere()
	if err != nil {
		return fmt.Errorf("cannot remove what an earlier life left: %w", err)
	}
	if len(removed) > 0 {
		d.log.Info("removed what an earlier life left", "what", removed)
	}
	return nil
}

// withCeilings fills in the most that a request may ask for, where the operator
// does not say: callers are strangers.
func withCeilings(c config.Config) config.Config {
	if c.MaxTimeout == 0 {
		c.MaxTimeout = 300 * time.Second
	}
	if c.MaxCPUs == 0 {
		c.MaxCPUs = float64(runtime.NumCPU())
	}
	if c.MaxProcesses == 0 {
		c.MaxProcesses = 1024
	}
	if c.MaxDiskBytes == 0 {
		c.MaxDiskBytes = 4 << 30
	}
	return c
}

// limits are what the machine can carry, or what the operator says.
func limits(c config.Config) (capacity.Limits, error) {
	l := capacity.Limits{Runs: int(c.Server.MaxConcurrent), MemoryBytes: c.Server.TotalMemoryBytes, Queue: int(c.Server.Queue)}
	if l.MemoryBytes == 0 {
		total, err := memlimit.ApplyFallback(memlimit.FromCgroup, memlimit.FromSystem)()
		if err != nil {
			return l, fmt.Errorf("cannot tell how much memory there is; set SANDBOX_TOTAL_MEMORY_MB: %w", err)
		}
		l.MemoryBytes = int64(total) / 4 * 3
	}
	if l.Runs == 0 {
		fit := l.MemoryBytes / c.MemoryBytes
		l.Runs = int(max(1, min(int64(8*cores), fit)))
	}
	return l, nil
}

// ahead tells whether anything is made before it is wanted: not where it would be paid for, or
// take the places of another server.
func (d *Daemon) ahead() bool {
	return d.cfg.Server.Warm != config.WarmOff && d.runtime.Name() != "e2b" && d.runtime.Name() != "remote"
}

// warm bounds what is made before it is wanted: beside the memory that runs are granted.
func (d *Daemon) warm(l capacity.Limits) sandbox.PoolOptions {
	if !d.ahead() {
		return sandbox.PoolOptions{}
	}
	return sandbox.PoolOptions{
		SingleUse: d.cfg.Server.Warm == config.WarmSingleUse, OneTenant: d.keys == nil,
		Containers: 4 * l.Runs, MemoryBytes: l.MemoryBytes / 8, Makers: cores,
		Failed: func(err error) { d.log.Warn("a container could not be made ahead", "error", err) },
	}
}

// Addr is where the server listens.
func (d *Daemon) Addr() net.Addr { return d.listener.Addr() }

// Serve answers until ctx is done, then drains: new runs are refused, those that
// go on have the operator's time to end, and what is left is cancelled and
// answered. Nothing of the sandbox is left when it returns.
func (d *Daemon) Serve(ctx context.Context) error {
	failed := make(chan error, 2)
	go func() {
		if d.cfg.Server.TLSCert != "" {
			failed <- d.http.ServeTLS(listener(d.listener, maxConnections), d.cfg.Server.TLSCert, d.cfg.Server.TLSKey)
			return
		}
		failed <- d.http.Serve(listener(d.listener, maxConnections))
	}()
	if local := d.listenUnix(ctx); local != nil {
		go func() { failed <- d.http.Serve(listener(local, maxConnections)) }()
	}
	d.announce()
	d.watching.Go(func() { d.watchdog(d.watched) })
	d.watching.Go(func() { d.tidy(d.watched) })
	if d.ahead() {
		d.watching.Go(func() { d.server.Prewarm(d.watched) })
	}
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
		err = d.drain(context.WithoutCancel(ctx))
	}
	return errors.Join(err, d.close())
}

func (d *Daemon) announce() {
	l := d.server.Ledger.Limits()
	d.log.Info("ready", "address", d.listener.Addr().String(), "capacity", l.Runs, "memory_mb", l.MemoryBytes>>20, "queue", l.Queue)
	d.tell(daemon.SdNotifyReady)
}

// drain keeps answering, so that who asks for health learns of it, until nothing
// runs any more or the time is over.
func (d *Daemon) drain(ctx context.Context) error {
	d.server.Drain()
	d.tell(daemon.SdNotifyStopping)
	d.log.Info("draining", "running", d.server.Ledger.Load().Running, "seconds", d.cfg.Server.Drain.Seconds())
	deadline := time.After(d.cfg.Server.Drain)
	poll := time.NewTicker(20 * time.Millisecond)
	defer poll.Stop()
	for d.server.Busy() {
		select {
		case <-poll.C:
			continue
		case <-deadline:
			d.log.Warn("cancelling what still runs", "running", d.server.Ledger.Load().Running)
			d.server.EndRuns()
		}
		break
	}
	ctx, cancel := context.WithTimeout(ctx, lastWords)
	defer cancel()
	err := d.http.Shutdown(ctx)
	d.server.Wait(ctx)
	if err != nil {
		return fmt.Errorf("some answers were not taken: %w", err)
	}
	return nil
}

// tidyEvery is how often a server removes what it has kept for long enough.
const tidyEvery = time.Hour

// tidy removes from the data directory what is of no use any more, as gc does, until ctx is
// done.
func (d *Daemon) tidy(ctx context.Context) {
	tick := time.NewTicker(tidyEvery)
	defer tick.Stop()
	for ctx.Err() == nil {
		if removed, err := executor.Reclaim(ctx, d.cfg.DataDir); err != nil && ctx.Err() == nil {
			d.log.Warn("what is kept for a time could not be removed", "error", err)
		} else if len(removed) > 0 {
			d.log.Info("removed what was kept for a time", "entries", len(removed))
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// close frees what was opened.
func (d *Daemon) close() error {
	var errs []error
	if d.http != nil {
		errs = append(errs, d.http.Close())
	}
	if d.listener != nil {
		_ = d.listener.Close() // which has been, if it served
	}
	d.unwatch()
	d.watching.Wait()
	if d.executor != nil {
		errs = append(errs, d.executor.Close())
	}
	if d.runtime != nil {
		errs = append(errs, d.runtime.Close())
	}
	if d.kept != nil {
		errs = append(errs, d.kept.Close())
	}
	if d.store != nil {
		errs = append(errs, d.store.Close())
	}
	return errors.Join(errs...)
}
