package daemon

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/auth"
	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/store"
)

type keysVerbs struct {
	Create createKey `cmd:"" help:"Make a key and print it, this once."`
	Ls     listKeys  `cmd:"" help:"List the keys."`
	Revoke revokeKey `cmd:"" help:"Make a key worthless; a running server knows within a second."`
}

type createKey struct {
	Tenant      string   `arg:"" help:"Who the key is for; runs are counted under this name."`
	Name        string   `help:"What to call the key."`
	Rate        *int64   `placeholder:"N" help:"Requests a minute."`
	Burst       *int64   `placeholder:"N" help:"Requests at once, above the rate; by default those of a minute."`
	Concurrency *int64   `placeholder:"N" help:"Runs at a time."`
	CPU         *float64 `placeholder:"SECONDS" help:"CPU seconds a day (UTC)."`
	Scope       string   `enum:",runtime" default:"" help:"What the key may do beside running programs: runtime, to have containers for another server."`
	Runs        *int64   `placeholder:"N" help:"Runs a day (UTC)."`
}

// limits are those that were given. Zero and less never mean unlimited.
func (k createKey) limits() (l store.KeyLimits, err error) {
	for _, flag := range []struct {
		name   string
		value  *int64
		target *int64
	}{
		{"--rate", k.Rate, &l.RequestsPerMinute}, {"--burst", k.Burst, &l.Burst},
		{"--concurrency", k.Concurrency, &l.Concurrency}, {"--runs", k.Runs, &l.RunsPerDay},
	} {
		if flag.value == nil {
			continue
		}
		if *flag.value < 1 {
			return l, &usageError{fmt.Errorf("%s %d: at least 1; leave it out for no limit", flag.name, *flag.value)}
		}
		*flag.target = *flag.value
	}
	if k.CPU != nil {
		if !(*k.CPU > 0) {
			return l, &usageError{fmt.Errorf("--cpu %g: more than 0; leave it out for no limit", *k.CPU)}
		}
		l.CPUSecondsPerDay = *k.CPU
	}
	return l, nil
}

func (c Command) createKey(cfg config.Config, k createKey) error {
	limits, err := k.limits()
	if err != nil {
		return err
	}
	return c.withStore(cfg, func(ctx context.Context, s *store.Store) error {
		text, made, err := auth.NewKeys(s, cfg.DataDir).Create(ctx, auth.NewKey{Tenant: k.Tenant, Name: k.Name, Limits: limits, Scopes: strings.Fields(k.Scope)})
		if err != nil {
			return err
		}
		fmt.Fprintf(c.Stderr, "key %s of tenant %s; it is shown this once:\n", made.ID, made.Tenant)
		_, err = fmt.Fprintln(c.Stdout, text)
		return err
	})
}

type listKeys struct {
	JSON bool `name:"json" help:"Print JSON."`
}

// keyRow is a key as it is listed.
type keyRow struct {
	ID       string     `json:"id"`
	Tenant   string     `json:"tenant"`
	Name     string     `json:"name"`
	Created  time.Time  `json:"created"`
	LastUsed *time.Time `json:"last_used"`
	Revoked  *time.Time `json:"revoked"`

	RequestsPerMinute int64   `json:"requests_per_minute,omitempty"`
	Burst             int64   `json:"burst,omitempty"`
	Concurrency       int64   `json:"concurrency,omitempty"`
	CPUSecondsPerDay  float64 `json:"cpu_seconds_per_day,omitempty"`
	RunsPerDay        int64   `json:"runs_per_day,omitempty"`

	Scopes []string `json:"scopes,omitempty"`
}

func (c Command) listKeys(cfg config.Config, l listKeys) error {
	rows := []keyRow{}
	err := c.withStore(cfg, func(ctx context.Context, s *store.Store) error {
		keys, err := s.Keys(ctx)
		for _, k := range keys {
			rows = append(rows, keyRow{
				ID: k.ID, Tenant: k.Tenant, Name: k.Name, Created: k.Created, LastUsed: known(k.LastUsed), Revoked: known(k.Revoked),
				RequestsPerMinute: k.Limits.RequestsPerMinute, Burst: k.Limits.Burst, Concurrency: k.Limits.Concurrency,
				CPUSecondsPerDay: k.Limits.CPUSecondsPerDay, RunsPerDay: k.Limits.RunsPerDay, Scopes: k.Scopes,
			})
		}
		return err
	})
	if err != nil {
		return err
	}
	if l.JSON {
		return c.printJSON(map[string]any{"keys": rows})
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tTENANT\tNAME\tCREATED\tLAST USED\tSTATE")
	for _, k := range rows {
		state := "valid"
		if k.Revoked != nil {
			state = "revoked " + day(k.Revoked)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", k.ID, k.Tenant, k.Name, day(&k.Created), day(k.LastUsed), state)
	}
	return w.Flush()
}

// known is nil for a time that never was.
func known(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func day(t *time.Time) string {
	if t == nil {
		return "never"
	}
	return t.UTC().Format(time.DateOnly)
}

type revokeKey struct {
	Key string `arg:"" help:"The key's id, or the key itself."`
}

func (c Command) revokeKey(cfg config.Config, k revokeKey) error {
	return c.withStore(cfg, func(ctx context.Context, s *store.Store) error {
		return auth.NewKeys(s, cfg.DataDir).Revoke(ctx, k.Key)
	})
}

// withStore opens the store for one command.
func (c Command) withStore(cfg config.Config, do func(context.Context, *store.Store) error) error {
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{Dir: cfg.DataDir})
	if err != nil {
		return err
	}
	err = do(ctx, s)
	if closing := s.Close(); err == nil {
		err = closing
	}
	return err
}

func (c Command) printJSON(v any) error {
	encoder := json.NewEncoder(c.Stdout)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
