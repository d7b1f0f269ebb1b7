package store

import (
	"context"
	"database/sql"
	"time"
)

const day = 24 * time.Hour

// statusRunning is what a report calls runs that have not ended.
const statusRunning = "running"

// Figures are sums over runs.
type Figures struct {
	Runs        int64   `json:"runs"`
	CPUSeconds  float64 `json:"cpu_seconds"`
	WallSeconds float64 `json:"wall_seconds"`
}

// Usage is what a tenant has used on one day.
type Usage struct {
	Day    string `json:"day"` // 2006-01-02, UTC; that of the start of the run
	Tenant string `json:"tenant"`
	Figures
	// ByStatus divides the figures by how the runs ended; "running" are those
	// that have not.
	ByStatus map[string]Figures `json:"by_status"`
}

// UsageFilter chooses what a report covers. Its zero value is everything.
type UsageFilter struct {
	Since  time.Time // its whole UTC day counts
	Tenant string    // empty is all
}

// Usage reports by day and tenant, oldest first. Lines that were pruned are
// in it.
func (s *Store) Usage(ctx context.Context, f UsageFilter) ([]Usage, error) {
	groups, err := list(ctx, s.db, scanGroup, `
		SELECT day, tenant, status, sum(runs), total(cpu_seconds), total(wall_seconds) FROM (
			SELECT * FROM usage WHERE day >= ?1
			UNION ALL
			SELECT started / 86400000 AS day, tenant, coalesce(status, ?2), count(*), total(cpu_seconds), total(wall_seconds)
			FROM runs WHERE started >= ?1 * 86400000 GROUP BY 1, 2, 3)
		WHERE tenant = ?3 OR ?3 = ''
		GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`, millis(f.Since)/day.Milliseconds(), statusRunning, f.Tenant)
	var report []Usage
	for _, g := range groups {
		if n := len(report); n == 0 || report[n-1].Day != g.date || report[n-1].Tenant != g.tenant {
			report = append(report, Usage{Day: g.date, Tenant: g.tenant, ByStatus: map[string]Figures{}})
		}
		report[len(report)-1].add(g.status, g.Figures)
	}
	return report, err
}

// group is the runs of one day, tenant and status.
type group struct {
	date, tenant, status string
	Figures
}

func scanGroup(rows *sql.Rows) (group, error) {
	var g group
	var number int64
	err := rows.Scan(&number, &g.tenant, &g.status, &g.Runs, &g.CPUSeconds, &g.WallSeconds)
	g.date = time.UnixMilli(number * day.Milliseconds()).UTC().Format(time.DateOnly)
	return g, err
}

func (u *Usage) add(status string, f Figures) {
	u.Runs += f.Runs
	u.CPUSeconds += f.CPUSeconds
	u.WallSeconds += f.WallSeconds
	u.ByStatus[status] = f
}

// KeyUsage sums up the runs of each key since a time, by key id. A run whose CPU
// time is unknown counts with its wall time, and one that used none of either
// never began and does not count.
func (s *Store) KeyUsage(ctx context.Context, since time.Time) (map[string]Figures, error) {
	type keyFigures struct {
		id string
		Figures
	}
	scan := func(rows *sql.Rows) (k keyFigures, err error) {
		err = rows.Scan(&k.id, &k.Runs, &k.CPUSeconds, &k.WallSeconds)
		return k, err
	}
	keys, err := list(ctx, s.db, scan, `
		SELECT key_id, count(*), total(coalesce(cpu_seconds, wall_seconds)), total(wall_seconds)
		FROM runs WHERE started >= ? AND coalesce(cpu_seconds, wall_seconds, 1) > 0 GROUP BY key_id`, millis(since))
	usage := map[string]Figures{}
	for _, k := range keys {
		usage[k.id] = k.Figures
	}
	return usage, err
}

// pruneBatch bounds how long a run that begins waits for the lock.
const pruneBatch = 1000

// Prune removes the audit lines of runs that started before a time and have
// ended, and tells how many they were. Their usage remains. Lines of the current
// day stay in any case: quotas are counted from them.
func (s *Store) Prune(ctx context.Context, before time.Time) (removed int64, err error) {
	if today := time.Now().UTC().Truncate(day); before.After(today) {
		before = today
	}
	for {
		n, err := s.pruneSome(ctx, millis(before))
		removed += n
		if err != nil || n < pruneBatch {
			return removed, err
		}
	}
}

// pruneSome moves the oldest lines into usage, all or nothing.
func (s *Store) pruneSome(ctx context.Context, before int64) (n int64, err error) {
	err = inTransaction(ctx, s.db, func(tx *sql.Tx) error {
		const oldest = "FROM runs WHERE started < ? AND finished IS NOT NULL ORDER BY started, id LIMIT ?"
		if _, err := tx.ExecContext(ctx, `
			INSERT INTO usage (day, tenant, status, runs, cpu_seconds, wall_seconds)
			SELECT started / 86400000, tenant, status, count(*), total(cpu_seconds), total(wall_seconds)
			FROM (SELECT * `+oldest+`) WHERE true GROUP BY 1, 2, 3
			ON CONFLICT DO UPDATE SET runs = runs + excluded.runs,
				cpu_seconds = cpu_seconds + excluded.cpu_seconds, wall_seconds = wall_seconds + excluded.wall_seconds`,
			before, pruneBatch); err != nil {
			return err
		}
		done, err := tx.ExecContext(ctx, "DELETE FROM runs WHERE id IN (SELECT id "+oldest+")", before, pruneBatch)
		if err != nil {
			return err
		}
		n, err = done.RowsAffected()
		return err
	})
	return n, err
}
