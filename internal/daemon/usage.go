package daemon

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/internal/store"
)

type usageVerb struct {
	Since  string `default:"30d" help:"How far back: a number of days such as 7d, or a date such as 2026-01-31."`
	Tenant string `help:"Of this tenant alone."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

// since is the moment that the flag means.
func (u usageVerb) since(now time.Time) (time.Time, error) {
	var days int
	if _, err := fmt.Sscanf(u.Since+";", "%dd;", &days); err == nil && days > 0 && days < 100_000 {
		return now.UTC().AddDate(0, 0, -days), nil
	}
	if t, err := time.Parse(time.DateOnly, u.Since); err == nil {
		return t, nil
	}
	return time.Time{}, &usageError{fmt.Errorf("--since %q is neither a number of days such as 7d nor a date such as 2026-01-31", u.Since)}
}

// usageRow is a tenant's day.
type usageRow struct {
	Day         string           `json:"day"`
	Tenant      string           `json:"tenant"`
	Runs        int64            `json:"runs"`
	CPUSeconds  float64          `json:"cpu_seconds"`
	WallSeconds float64          `json:"wall_seconds"`
	ByStatus    map[string]int64 `json:"by_status"`
}

func (c Command) usage(cfg config.Config, u usageVerb) error {
	since, err := u.since(time.Now())
	if err != nil {
		return err
	}
	rows := []usageRow{}
	err = c.withStore(cfg, func(ctx context.Context, s *store.Store) error {
		days, err := s.Usage(ctx, store.UsageFilter{Since: since, Tenant: u.Tenant})
		for _, d := range days {
			row := usageRow{d.Day, d.Tenant, d.Runs, d.CPUSeconds, d.WallSeconds, map[string]int64{}}
			for status, figures := range d.ByStatus {
				row.ByStatus[status] = figures.Runs
			}
			rows = append(rows, row)
		}
		return err
	})
	if err != nil {
		return err
	}
	if u.JSON {
		return c.printJSON(map[string]any{"usage": rows})
	}
	w := tabwriter.NewWriter(c.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "DAY\tTENANT\tRUNS\tCPU S\tWALL S\tHOW THEY ENDED")
	for _, r := range rows {
		var ends []string
		for _, status := range slices.Sorted(maps.Keys(r.ByStatus)) {
			ends = append(ends, fmt.Sprintf("%s %d", status, r.ByStatus[status]))
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%.1f\t%.1f\t%s\n", r.Day, r.Tenant, r.Runs, r.CPUSeconds, r.WallSeconds, strings.Join(ends, ", "))
	}
	return w.Flush()
}
