package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"sync"
	"time"
)

// ErrClosed says that the store takes no more lines.
var ErrClosed = errors.New("the audit is closed: the server is stopping")

var errRefused = errors.New("the audit has a line with this id already, or has none to complete")

// maxBatch bounds a transaction, so that the first line in it does not wait long
// for the last.
const maxBatch = 256

// endWaits is how long a line that nobody waits for may wait for one that somebody does.
const endWaits = 5 * time.Millisecond

// writer writes the audit. While one transaction is under way, lines queue up;
// all of them are the next one. A line that somebody waits for, as for the begin of a run, is written
// at once, and the ends of runs with it. A lone begin costs
// 0.1 ms, and under load a whole line 0.03 ms of the one writer that SQLite
// allows, against 0.1 ms with a transaction for each statement (BenchmarkBeginRun,
// BenchmarkRun, BenchmarkRunUnbatched). One begin in some hundred waits for a
// checkpoint too, 3 to 5 ms.
type writer struct {
	db         *sql.DB // a connection of its own, so that reports do not keep runs waiting
	begin, end *sql.Stmt
	log        *slog.Logger
	lines      chan line
	drained    chan struct{}

	closing sync.RWMutex // held for reading while a line is handed over
	closed  bool
}

// line is one statement that changes exactly one row.
type line struct {
	run       string // its id
	statement *sql.Stmt
	args      []any
	done      chan<- error // buffered; nil when nobody waits
}

func startWriter(ctx context.Context, path string, log *slog.Logger) (*writer, error) {
	db, err := connect(ctx, path, 1)
	if err != nil {
		return nil, err
	}
	w := &writer{db: db, log: log, lines: make(chan line, maxBatch), drained: make(chan struct{})}
	var failed [2]error
	w.begin, failed[0] = db.PrepareContext(ctx, `
		INSERT INTO runs (id, started, tenant, key_id, request_id, source_sha256, language, version, limits, node)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`)
	w.end, failed[1] = db.PrepareContext(ctx, `
		UPDATE runs SET finished = ?, status = ?, exit_code = ?, cpu_seconds = ?, wall_seconds = ?, memory_peak_bytes = ?
		WHERE id = ?`)
	if err := errors.Join(failed[:]...); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	go w.run(context.WithoutCancel(ctx))
	return w, nil
}

// hand gives a line to the writer.
func (w *writer) hand(ctx context.Context, l line) error {
	w.closing.RLock()
	defer w.closing.RUnlock()
	if w.closed {
		return ErrClosed
	}
	select {
	case w.lines <- l:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// close waits until everything that was handed over is written. Calling it again
// is harmless.
func (w *writer) close() error {
	w.closing.Lock()
	if !w.closed {
		w.closed = true
		close(w.lines)
	}
	w.closing.Unlock()
	<-w.drained
	return w.db.Close()
}

func (w *writer) run(ctx context.Context) {
	defer close(w.drained)
	for first := range w.lines {
		w.write(ctx, w.batch(first))
	}
}

// batch is first and what has queued up behind it, or comes before somebody waits for any of them.
func (w *writer) batch(first line) []line {
	lines, awaited := []line{first}, first.done != nil
	var late <-chan time.Time
	if !awaited {
		late = time.After(endWaits)
	}
	for len(lines) < maxBatch {
		if awaited && len(w.lines) == 0 {
			return lines
		}
		select {
		case l, open := <-w.lines:
			if !open {
				return lines
			}
			lines = append(lines, l)
			awaited = awaited || l.done != nil
		case <-late:
			return lines
		}
	}
	return lines
}

// write commits a batch and tells whoever waits.
func (w *writer) write(ctx context.Context, lines []line) {
	refused := make([]error, len(lines))
	exec := func(i int, statement *sql.Stmt) error {
		done, err := statement.ExecContext(ctx, lines[i].args...)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n != 1 {
			refused[i] = errors.Join(errRefused, err)
		}
		return nil
	}
	var err error
	if len(lines) == 1 { // a statement is a transaction of its own
		err = exec(0, lines[0].statement)
	} else {
		err = inTransaction(ctx, w.db, func(tx *sql.Tx) error {
			for i, l := range lines {
				if err := exec(i, tx.StmtContext(ctx, l.statement)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	for i, l := range lines {
		if err := errors.Join(err, refused[i]); l.done != nil {
			l.done <- err
		} else if err != nil {
			w.log.Error("the audit line of a run was not completed", "run", l.run, "error", err)
		}
	}
}
