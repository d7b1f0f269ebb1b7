package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/tracing"
)

// Exit codes of the command.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2 // a wrong command line or configuration
)

// grammar is the command line of sandbox-server.
type grammar struct {
	Serve       struct{}  `cmd:"" default:"1" help:"Serve, until SIGTERM (docs/SERVER.md)."`
	Keys        keysVerbs `cmd:"" help:"The keys that callers show."`
	Usage       usageVerb `cmd:"" help:"What tenants have run, by day."`
	Warm        struct{}  `cmd:"" help:"Prepare what the first runs would else wait for, such as Go's standard library, and exit."`
	Healthcheck struct{}  `cmd:"" help:"Ask the server of this environment whether programs can be run there; exit code 1 if not."`
	Version     struct{}  `cmd:"" help:"Print the version."`

	Settings kong.Plugins `embed:""`
}

// Command is one call of sandbox-server.
type Command struct {
	Stdout, Stderr io.Writer
	Environ        []string
	Version        string
}

// Main runs a command line and returns its exit code.
func (c Command) Main(args []string) int {
	err := c.run(args)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(c.Stderr, "sandbox-server:", err)
	var usage *usageError
	var value *config.ValueError
	if errors.As(err, &usage) || errors.As(err, &value) {
		return exitUsage
	}
	return exitFailed
}

// usageError is a mistake of the operator's.
type usageError struct{ error }

func (c Command) run(args []string) (err error) {
	set := newSettings()
	g := grammar{Settings: kong.Plugins{set.values.Interface()}}
	helped := false // kong asks to exit after it has printed the help, and then goes on
	parser, err := kong.New(&g, kong.Name("sandbox-server"), kong.Description("Runs untrusted programs for callers over HTTP."),
		kong.Writers(c.Stdout, c.Stderr), kong.Exit(func(int) { helped = true }))
	if err != nil {
		return err
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return nil
	case err != nil:
		return &usageError{err}
	}
	if parsed.Command() == "version" {
		_, err := fmt.Fprintln(c.Stdout, c.version())
		return err
	}
	cfg, err := config.LoadStrict(append(set.environ(), c.Environ...))
	if err != nil {
		return &usageError{err}
	}
	switch parsed.Command() {
	case "keys create <tenant>":
		return c.createKey(cfg, g.Keys.Create)
	case "keys ls":
		return c.listKeys(cfg, g.Keys.Ls)
	case "keys revoke <key>":
		return c.revokeKey(cfg, g.Keys.Revoke)
	case "usage":
		return c.usage(cfg, g.Usage)
	case "warm":
		return c.warm(cfg)
	case "healthcheck":
		return c.healthcheck(cfg)
	}
	return c.serve(cfg)
}

func (c Command) version() string {
	if c.Version == "" {
		return "development"
	}
	return c.Version
}

// serve is the whole life of a server.
func (c Command) serve(cfg config.Config) error {
	log := slog.New(slog.NewJSONHandler(c.Stderr, nil))
	if !c.sets("GOGC") {
		collectSeldom()
	}
	watchSeldom()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	untrace, err := tracing.Start(ctx, "sandbox-server", c.version(), os.Getenv)
	if err != nil {
		return &usageError{err}
	}
	defer func() {
		last, cancel := context.WithTimeout(context.Background(), lastWords)
		defer cancel()
		if err := untrace(last); err != nil {
			log.Warn("the last traces were not sent", "error", err.Error())
		}
	}()
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP) // before there are keys to read: it would end who is starting
	defer signal.Stop(hangups)
	d, err := New(ctx, cfg, c.version(), log)
	if err != nil {
		return err
	}
	if d.FirstKey != "" {
		fmt.Fprintf(c.Stderr, "sandbox-server: there was no key, so here is one. It is shown this once:\n%s\n", d.FirstKey)
	}
	d.watching.Go(func() { d.reloadAt(hangups) })
	return d.Serve(ctx)
}

// sets tells whether a variable of the environment has a value.
func (c Command) sets(name string) bool {
	return slices.ContainsFunc(c.Environ, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
}

// reloadAt reads the keys anew at each SIGHUP, while the server lives.
func (d *Daemon) reloadAt(hangups <-chan os.Signal) {
	for {
		select {
		case <-hangups:
			d.Reload()
		case <-d.watched.Done():
			return
		}
	}
}
