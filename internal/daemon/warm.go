package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/engine"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/executor"
)

// warm runs a small program in each of the usual languages, so that everything is prepared
// that is prepared once: caches of compilers, versions of toolchains. It is for images and
// installations, before a server starts, and does no harm beside one.
func (c Command) warm(cfg config.Config) (err error) {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	log := slog.New(slog.NewJSONHandler(c.Stderr, nil))
	note := func(message string) { log.Info(message) }
	rt, warnings, err := engine.Open(ctx, cfg, engine.Runtimes(ctx, cfg, engine.Options{Getenv: os.Getenv, Notify: note}))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	e := executor.New(rt, engine.Executor(cfg, rt.Name(), os.Getenv, warnings, note))
	var failed []error
	for _, req := range executor.Usual() {
		begun := time.Now()
		req.Isolation = cfg.Isolation
		res, err := e.Run(ctx, req, nil)
		var input *executor.InputError
		switch {
		case errors.As(err, &input): // a language that is not here
			fmt.Fprintf(c.Stdout, "%s: %s\n", req.Language, input.Detail)
		case err != nil:
			return err
		case res.Status != api.StatusOK:
			failed = append(failed, fmt.Errorf("%s: %s: %s", req.Language, res.Status, res.Message))
		default:
			fmt.Fprintf(c.Stdout, "%s %s: ready after %.1f s\n", req.Language, res.Version, time.Since(begun).Seconds())
		}
	}
	return errors.Join(failed...)
}
