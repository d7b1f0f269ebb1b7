package sandbox

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
)

// Cause is why a process was ended by its [Manager], if it was.
type Cause string

// The causes of an end that was not the program's own.
const (
	CauseNone      Cause = ""
	CauseWallTime  Cause = "wall_time"
	CauseCPUTime   Cause = "cpu_time"
	CauseCancelled Cause = "cancelled"
)

// Outcome is how a process ended and who ended it.
type Outcome struct {
	Exit
	Cause Cause
	// CPUTime is what all of it had used when it was ended for that; the figures of its end may lack
	// what nobody waited for.
	CPUTime time.Duration
}

// ErrAbandoned is the cause of a context that is done because nobody waits for
// the outcome any more: what runs is then killed without grace.
var ErrAbandoned = errors.New("nobody waits for the run any more")

// ErrOutOfMemory is the end of a container whose own process the kernel has killed for want
// of memory, where what programs fill is all that there is: it is the program's doing, and
// what it has made is lost.
var ErrOutOfMemory = errors.New("the memory of the container is full")

// DefaultGrace is how long a program may take to end after SIGTERM.
const DefaultGrace = 500 * time.Millisecond

// Manager runs containers of one [Runtime]: it holds wall clock and CPU time,
// ends programs gracefully first, knows what is alive, and has containers ready
// before they are wanted. It is safe for concurrent use.
type Manager struct {
	runtime Runtime
	grace   time.Duration
	pool    *pool // nil where nothing is made ahead

	mu    sync.Mutex
	alive map[string]*managed
}

type managed struct {
	Container
	tenant   string
	prepared *prepared // if it was made ahead
	turned   *waiting  // what has worked in it, alone, and can wait again
	running  Running   // nil while nothing runs
}

// NewManager makes a manager. A grace of zero means [DefaultGrace].
func NewManager(rt Runtime, grace time.Duration) *Manager {
	if grace == 0 {
		grace = DefaultGrace
	}
	return &Manager{runtime: rt, grace: grace, alive: map[string]*managed{}}
}

// KeepReady has containers made ahead from now on, for [Manager.Take]. It is called
// once, before the manager is used.
func (m *Manager) KeepReady(opts PoolOptions) { m.pool = newPool(m.runtime, opts) }

// Prepare has so many containers of a kind ready from now on, whatever the demand.
func (m *Manager) Prepare(w Want, least int) { m.pool.keep(w, least) }

// Ready counts the containers that wait, by language.
func (m *Manager) Ready() map[string]int { return m.pool.ready() }

// Ancestors counts the interpreters that wait to be forked.
func (m *Manager) Ancestors() int { return m.pool.ancestors() }

// Create makes a container. The caller must Delete it.
func (m *Manager) Create(ctx context.Context, spec Spec) (Container, error) {
	c, err := m.runtime.Create(ctx, spec)
	if err != nil {
		return nil, err
	}
	m.add(&managed{Container: c, tenant: spec.Tenant})
	return c, nil
}

// Take is Create, but the container may have been made before, and then what a want has
// ahead waits in it for a process with [Process.Work]. The first of wants that is ready is
// taken; they have the same spec.
func (m *Manager) Take(ctx context.Context, wants ...Want) (c Container, warm bool, err error) {
	if m.pool != nil { // which looks for them several times
		wants = described(wants)
	}
	if c := m.TakeReady(wants...); c != nil {
		return c, true, nil
	}
	for _, w := range wants {
		if made := m.pool.fork(ctx, w); made != nil {
			return m.taken(w, made), false, nil
		}
	}
	if ready := m.pool.take(wants, 1); ready != nil {
		return m.taken(wants[0], ready), true, nil
	}
	if made := m.pool.soon(ctx, wants[0]); made != nil {
		return m.taken(wants[0], made), false, nil
	}
	made, err := m.pool.hurry(ctx, wants[0])
	if err != nil {
		return nil, false, err
	}
	if made != nil {
		return m.taken(wants[0], made), false, nil
	}
	c, err = m.Create(ctx, wants[0].Spec)
	return c, false, err
}

// TakeReady is Take where a container is ready, and nil elsewhere.
func (m *Manager) TakeReady(wants ...Want) Container {
	ready := m.pool.take(wants, 0)
	if ready == nil {
		return nil
	}
	return m.taken(wants[0], ready)
}

func (m *Manager) taken(w Want, p *prepared) Container {
	m.add(&managed{Container: p.Container, tenant: w.Spec.Tenant, prepared: p})
	return p.Container
}

func (m *Manager) add(c *managed) {
	m.pool.count(c.tenant, 1)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alive[c.ID()] = c
}

// Run runs one process to its end and holds its wall clock and CPU time. When
// ctx is done the program is ended. The error is ours, or a [*StartError].
func (m *Manager) Run(ctx context.Context, id string, p Process, watch func(Running)) (Outcome, error) {
	c, err := m.find(id)
	if err != nil {
		return Outcome{}, err
	}
	running, err := m.start(ctx, c, p)
	if err != nil {
		return Outcome{}, err
	}
	m.setRunning(c, running)
	defer m.setRunning(c, nil)
	if watch != nil {
		watch(running)
	}
	if f, can := running.(Figuring); can {
		go f.PrepareFigures()
	}
	s := supervisor{running: running, limits: p.Limits, grace: m.grace, done: make(chan struct{})}
	out, err := s.supervise(ctx)
	if out.Cause != CauseNone || err != nil { // a signal may still be on its way
		m.leave(c)
	}
	return out, err
}

// start starts a process, or tells what was started ahead to be it.
func (m *Manager) start(ctx context.Context, c *managed, p Process) (Running, error) {
	if w := m.turned(c); w != nil { // nothing else is to be there
		w.discard()
	}
	w := m.waiting(c)
	if w == nil {
		return c.Start(ctx, p)
	}
	work, fits := w.work(p)
	if !fits {
		w.discard()
		return c.Start(ctx, p)
	}
	if err := c.Isolation().CheckStrict(p.Limits); err != nil {
		w.discard()
		return nil, err
	}
	if w.again != nil {
		m.mu.Lock()
		c.turned = w
		m.mu.Unlock()
	}
	return w.resume(p, work), nil
}

// turned takes what has worked in a container and could wait again.
func (m *Manager) turned(c *managed) *waiting {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := c.turned
	c.turned = nil
	return w
}

// Keeps tells whether a container would be kept by [Manager.Return]: if nothing else runs
// in it.
func (m *Manager) Keeps(id string) bool {
	c, err := m.find(id)
	if err != nil {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return c.turned != nil && m.pool.gives(c.prepared, c.tenant)
}

// Return is Delete, but a container in which nothing has run but what waits again is kept
// for another run of the same tenant.
func (m *Manager) Return(ctx context.Context, id string) error {
	c := m.take(id)
	if c == nil {
		return nil
	}
	if w := m.turned(c); w != nil {
		if m.pool.giveBack(c.prepared, w, c.tenant) { // from now on it may be another run's
			m.pool.settle(c.prepared)
			m.pool.count(c.tenant, -1)
			return nil
		}
		w.leave()
	}
	return m.end(ctx, c)
}

// take takes a container out of those that are alive, if it is there.
func (m *Manager) take(id string) *managed {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := m.alive[id]
	delete(m.alive, id)
	return c
}

// leave has what has worked in a container not be kept.
func (m *Manager) leave(c *managed) {
	if w := m.turned(c); w != nil {
		w.leave()
	}
}

// waiting takes what was started ahead in a container, if anything was.
func (m *Manager) waiting(c *managed) *waiting {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.prepared == nil {
		return nil
	}
	w := c.prepared.waiting
	c.prepared.waiting = nil
	return w
}

func (m *Manager) setRunning(c *managed, r Running) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c.running = r
}

// Stop ends what runs in a container, SIGTERM first. Nothing running is no error.
func (m *Manager) Stop(ctx context.Context, id string) error {
	c, err := m.find(id)
	if err != nil {
		return err
	}
	m.mu.Lock()
	running := c.running
	m.mu.Unlock()
	if running == nil {
		return nil
	}
	m.leave(c)
	s := supervisor{running: running, grace: m.grace, done: make(chan struct{})}
	go s.wait()
	s.stop(ctx)
	return s.err
}

// Delete removes a container and everything that it held. A container that is
// not there is no error.
func (m *Manager) Delete(ctx context.Context, id string) error {
	if c := m.take(id); c != nil {
		return m.end(ctx, c)
	}
	return nil
}

// end deletes a container that is nobody's any more.
func (m *Manager) end(ctx context.Context, c *managed) error {
	defer m.pool.settle(c.prepared)
	defer m.pool.count(c.tenant, -1)
	defer c.prepared.bury()
	if w := m.waiting(c); w != nil {
		w.leave()
	}
	m.leave(c)
	return c.Container.Delete(ctx)
}

// GetMetrics reads the figures of what runs in a container as they are now.
func (m *Manager) GetMetrics(id string) (Metrics, error) {
	c, err := m.find(id)
	if err != nil {
		return Metrics{}, err
	}
	m.mu.Lock()
	running := c.running
	m.mu.Unlock()
	if running == nil {
		return Metrics{}, fmt.Errorf("nothing runs in container %s", id)
	}
	return running.Metrics()
}

// Alive lists the containers that were created and not deleted.
func (m *Manager) Alive() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	ids := make([]string, 0, len(m.alive))
	for id := range m.alive {
		ids = append(ids, id)
	}
	return ids
}

// Close deletes every container that is still alive, and all that are ready. The runtime
// stays open.
func (m *Manager) Close() error {
	m.pool.close()
	var errs []error
	for _, id := range m.Alive() {
		errs = append(errs, m.Delete(context.Background(), id))
	}
	return errors.Join(errs...)
}

func (m *Manager) find(id string) (*managed, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.alive[id]
	if !ok {
		return nil, fmt.Errorf("there is no container %s", id)
	}
	return c, nil
}

// supervisor watches one process.
type supervisor struct {
	running Running
	limits  Limits
	grace   time.Duration

	done chan struct{} // closed when exit and err are set
	exit Exit
	err  error
}

func (s *supervisor) wait() {
	s.exit, s.err = s.running.Wait()
	close(s.done)
}

func (s *supervisor) supervise(ctx context.Context) (Outcome, error) {
	go s.wait()
	wall, stopWall := timer(s.limits.WallTime)
	defer stopWall()
	cpu := s.cpuTimer()
	defer cpu.Stop()
	cause, reached := CauseNone, time.Duration(0)
	for cause == CauseNone {
		select {
		case <-s.done:
			return Outcome{Exit: s.exit}, s.err
		case <-ctx.Done():
			select {
			case <-s.done: // before
				return Outcome{Exit: s.exit}, s.err
			default:
			}
			cause = CauseCancelled
			if errors.Is(context.Cause(ctx), ErrAbandoned) {
				s.grace = 0
			}
		case <-wall:
			cause = CauseWallTime
		case <-cpu.C:
			used := s.cpuUsed()
			if used >= s.limits.CPUTime {
				cause, reached = CauseCPUTime, used
			}
			cpu.Reset(s.untilCPU(used))
		}
	}
	s.stop(context.Background())
	return Outcome{Exit: s.exit, Cause: cause, CPUTime: reached}, s.err
}

// stop ends the process: SIGTERM, a grace, then everything dies. It returns when
// the process has ended.
func (s *supervisor) stop(ctx context.Context) {
	// What has no CPU time left may be slow to pass a signal on. The kill is not to be
	// later for that.
	go func() { _ = s.running.Signal(syscall.SIGTERM) }()
	grace := time.NewTimer(s.grace)
	defer grace.Stop()
	select {
	case <-s.done:
		return
	case <-grace.C:
	case <-ctx.Done():
	}
	_ = s.running.Kill()
	<-s.done
}

func timer(d time.Duration) (<-chan time.Time, func() bool) {
	if d <= 0 || fault.Off("limit", "wall clock") {
		return nil, func() bool { return false }
	}
	t := time.NewTimer(d)
	return t.C, t.Stop
}

// cpuTimer fires when the CPU time should be looked at; never without a limit.
func (s *supervisor) cpuTimer() *time.Timer {
	if s.limits.CPUTime <= 0 || fault.Off("limit", "CPU time") {
		t := time.NewTimer(time.Hour)
		t.Stop()
		return t
	}
	return time.NewTimer(s.untilCPU(0))
}

// untilCPU is how soon the tree can have used up its CPU time at the earliest,
// with every core that there is, since a share of them is held over a second: so
// the clock is read a few times a run and not every few milliseconds.
func (s *supervisor) untilCPU(used time.Duration) time.Duration {
	const atLeast = 2 * time.Millisecond
	cores := max(s.limits.CPUs, float64(runtime.NumCPU()))
	return max(atLeast, time.Duration(float64(s.limits.CPUTime-used)/cores))
}

func (s *supervisor) cpuUsed() time.Duration {
	m, err := used(s.running)
	if err != nil {
		return 0
	}
	cpu, _ := m.CPU()
	return cpu
}
