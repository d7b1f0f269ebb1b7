package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrations are the files in the order of their numbers, which are those of
// the schema that they make, from 1 without a gap.
func migrations() []string {
	var steps []string
	names, _ := fs.Glob(migrationFiles, "migrations/*.sql") // sorted
	for _, name := range names {
		text, _ := migrationFiles.ReadFile(name) // embedded, so it is there
		steps = append(steps, string(text))
	}
	return steps
}

// migrate brings the schema to the number of steps.
func migrate(ctx context.Context, db *sql.DB, steps []string) error {
	version, err := schemaVersion(ctx, db)
	if err != nil {
		return err
	}
	if version > len(steps) {
		return fmt.Errorf("a newer version of this program has written it (schema %d, this one knows %d): "+
			"run that version, or put back the copy of the data directory from before it", version, len(steps))
	}
	for i, step := range steps[version:] {
		if err := apply(ctx, db, version+i+1, step); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", version+i+1, err)
		}
	}
	return nil
}

// apply makes one step, unless another process was quicker.
func apply(ctx context.Context, db *sql.DB, number int, step string) error {
	return inTransaction(ctx, db, func(tx *sql.Tx) error {
		version, err := schemaVersion(ctx, tx)
		if err != nil || version >= number {
			return err
		}
		if _, err := tx.ExecContext(ctx, step); err != nil {
			return err
		}
		if version, err = schemaVersion(ctx, tx); err == nil && version != number {
			err = fmt.Errorf("the file sets user_version to %d", version)
		}
		return err
	})
}

// rowQuerier is a database or a transaction.
type rowQuerier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func schemaVersion(ctx context.Context, q rowQuerier) (version int, err error) {
	err = q.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	return version, err
}
