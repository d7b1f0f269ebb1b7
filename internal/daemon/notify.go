package daemon

import (
	"context"
	"net/http"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"
)

// tell tells systemd, if it has started us. Nobody else listens.
func (d *Daemon) tell(state string) {
	if _, err := daemon.SdNotify(false, state); err != nil {
		d.log.Warn("systemd was not told", "state", state, "error", err.Error())
	}
}

// watchdog tells systemd that the server answers, for as long as it does. It asks
// the server itself, over no network: a handler that hangs is what a watchdog is for.
func (d *Daemon) watchdog(ctx context.Context) {
	limit, err := daemon.SdWatchdogEnabled(false)
	if err != nil || limit == 0 {
		return
	}
	ticker := time.NewTicker(limit / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if d.answers(ctx, limit/3) {
			d.tell(daemon.SdNotifyWatchdog)
		}
	}
}

func (d *Daemon) answers(ctx context.Context, within time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost/livez", nil)
	if err != nil {
		return false
	}
	answered := make(chan bool, 1)
	go func() {
		w := &statusOnly{header: http.Header{}}
		d.server.ServeHTTP(w, req)
		answered <- w.status == http.StatusOK
	}()
	select {
	case ok := <-answered:
		return ok
	case <-ctx.Done():
		return false
	}
}

// statusOnly is an answer of which only the status matters.
type statusOnly struct {
	header http.Header
	status int
}

func (s *statusOnly) Header() http.Header         { return s.header }
func (s *statusOnly) WriteHeader(status int)      { s.status = status }
func (s *statusOnly) Write(p []byte) (int, error) { return len(p), nil }
