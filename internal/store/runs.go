package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"time"
)

// StatusLost is the status of a run whose server died before it ended.
const StatusLost = "lost"

// Run is a line of the audit.
type Run struct {
	ID        string    `json:"id"`
	Started   time.Time `json:"started"`
	Tenant    string    `json:"tenant"`
	KeyID     string    `json:"key_id"`
	RequestID string    `json:"request_id"`
	// SourceSHA256 is hexadecimal, of the code and the files together.
	SourceSHA256 string `json:"source_sha256"`
	Language     string `json:"language"`
	Version      string `json:"version"`
	// Limits are a JSON object; nil is an empty one.
	Limits json.RawMessage `json:"limits"`
	Node   string          `json:"node"`
	// End is nil until the run has ended.
	End *RunEnd `json:"end"`
}

// RunEnd is what is known of a run at its end. A figure that could not be had
// is nil, never zero.
type RunEnd struct {
	Finished        time.Time `json:"finished"`
	Status          string    `json:"status"`
	ExitCode        int       `json:"exit_code"`
	CPUSeconds      *float64  `json:"cpu_seconds"`
	WallSeconds     *float64  `json:"wall_seconds"`
	MemoryPeakBytes *int64    `json:"memory_peak_bytes"`
}

// BeginRun writes the line of a run that was accepted. When it returns nil, the
// line is there whatever becomes of this process. The context counts until the
// line is handed over; from then on the answer is waited for.
func (s *Store) BeginRun(ctx context.Context, r Run) error {
	written, err := s.HandRun(ctx, r)
	if err != nil {
		return err
	}
	return written()
}

// HandRun is BeginRun for who has something else to do meanwhile: the line is there when
// written, which is called once, returns nil.
func (s *Store) HandRun(ctx context.Context, r Run) (written func() error, err error) {
	done := make(chan error, 1)
	err = s.writer.hand(ctx, line{run: r.ID, statement: s.writer.begin, args: beginArgs(r), done: done})
	return func() error { return scarce(<-done) }, err
}

func beginArgs(r Run) []any {
	return []any{
		r.ID, millis(r.Started), r.Tenant, r.KeyID, r.RequestID,
		r.SourceSHA256, r.Language, r.Version, cmp.Or(string(r.Limits), "{}"), r.Node,
	}
}

// EndRun completes a line soon, without waiting for it; Close waits. A run that
// was marked lost meanwhile was not. It fails when the store is closed or the
// context ends while the writer is behind.
func (s *Store) EndRun(ctx context.Context, id string, e RunEnd) error {
	return s.writer.hand(ctx, line{run: id, statement: s.writer.end, args: endArgs(id, e)})
}

func endArgs(id string, e RunEnd) []any {
	return []any{millis(e.Finished), e.Status, e.ExitCode, e.CPUSeconds, e.WallSeconds, e.MemoryPeakBytes, id}
}

// MarkLost completes the lines that an earlier process left open, with
// [StatusLost], and tells how many they were. A server calls it once at its
// start, before its own first run; other commands must not.
func (s *Store) MarkLost(ctx context.Context) (int64, error) {
	done, err := s.db.ExecContext(ctx,
		"UPDATE runs SET finished = ?, status = ?, exit_code = -1 WHERE finished IS NULL", millis(time.Now()), StatusLost)
	if err != nil {
		return 0, err
	}
	return done.RowsAffected()
}

// RunFilter chooses lines. Its zero value is every line.
type RunFilter struct {
	Since  time.Time // the earliest start
	Tenant string    // empty is all
	Limit  int       // the most lines; zero is all
}

// Runs lists lines, newest first.
func (s *Store) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	if f.Limit == 0 {
		f.Limit = -1 // SQLite's word for all
	}
	return list(ctx, s.db, scanRun, `
		SELECT id, started, tenant, key_id, request_id, source_sha256, language, version, limits, node,
			finished, coalesce(status, ''), coalesce(exit_code, 0), cpu_seconds, wall_seconds, memory_peak_bytes
		FROM runs WHERE started >= ?1 AND (tenant = ?2 OR ?2 = '')
		ORDER BY started DESC, id DESC LIMIT ?3`, millis(f.Since), f.Tenant, f.Limit)
}

func scanRun(rows *sql.Rows) (Run, error) {
	var r Run
	var e RunEnd
	var started int64
	var finished *int64
	var limits string
	err := rows.Scan(&r.ID, &started, &r.Tenant, &r.KeyID, &r.RequestID, &r.SourceSHA256, &r.Language, &r.Version, &limits, &r.Node,
		&finished, &e.Status, &e.ExitCode, &e.CPUSeconds, &e.WallSeconds, &e.MemoryPeakBytes)
	r.Started, r.Limits = fromMillis(started), json.RawMessage(limits)
	if finished != nil {
		e.Finished = fromMillis(*finished)
		r.End = &e
	}
	return r, err
}
