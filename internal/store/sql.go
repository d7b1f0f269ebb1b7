package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// busyTimeout is how long a statement waits for a lock, mostly another writer's.
const busyTimeout = 5 * time.Second

// connect opens a database, for so many statements at a time.
func connect(ctx context.Context, path string, connections int) (*sql.DB, error) {
	db, err := sql.Open("sqlite", dataSource(path))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(connections)
	if err := firstConnection(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// firstConnection tries again as long as a statement would wait: SQLite does not
// wait when two processes change a new database to a write-ahead log at once, it
// refuses one of them.
func firstConnection(ctx context.Context, db *sql.DB) error {
	ctx, cancel := context.WithTimeout(ctx, busyTimeout)
	defer cancel()
	for {
		err := db.PingContext(ctx)
		if refused, ok := errors.AsType[*sqlite.Error](err); !ok || refused.Code()&0xff != sqlite3.SQLITE_BUSY {
			return err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// dataSource has the settings of every connection. The write-ahead log lets
// others read while one writes. NORMAL does not wait for the disk at each
// commit: what a killed process has committed is in the page cache and survives
// it; a power cut may take the last lines, but never leaves a broken database.
// Every transaction takes the write lock at its beginning, because one that asks
// for it later is refused where it should wait.
func dataSource(path string) string {
	settings := url.Values{
		"_busy_timeout": {strconv.FormatInt(busyTimeout.Milliseconds(), 10)},
		"_journal_mode": {"WAL"},
		"_synchronous":  {"NORMAL"},
		"_foreign_keys": {"on"},
		"_txlock":       {"immediate"},
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: settings.Encode()}).String()
}

// scarce adds to an error of SQLite's the one of the system that it stands for, where
// that may be gone at the next try.
func scarce(err error) error {
	refused, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return err
	}
	switch refused.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%w: %w", syscall.ENOSPC, err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("%w: %w", syscall.EBUSY, err)
	}
	return err
}

// inTransaction commits what do has written, or nothing of it.
func inTransaction(ctx context.Context, db *sql.DB, do func(tx *sql.Tx) error) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := do(tx); err != nil {
		_ = tx.Rollback() // what stopped us is the error to tell
		return err
	}
	return tx.Commit()
}

// list reads every row of a query.
func list[T any](ctx context.Context, db *sql.DB, scan func(*sql.Rows) (T, error), query string, args ...any) ([]T, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var all []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// millis is t as it is stored; the zero time is 0.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
