package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

const fileName = "server.db"

// Options say where the database is and who hears of trouble.
type Options struct {
	// Dir is the data directory. It is made when it is missing.
	Dir string
	// Log is told of lines that could not be written and that nobody waits for;
	// nil is nobody.
	Log *slog.Logger
}

// Store is an open database. It is safe for concurrent use.
type Store struct {
	db     *sql.DB
	writer *writer
}

// Open opens the database of a data directory, and makes or migrates it first
// where necessary. Close it in the end: lines may be on their way.
func Open(ctx context.Context, o Options) (*Store, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	path, err := createFile(o.Dir)
	if err != nil {
		return nil, fmt.Errorf("make the database: %w", err)
	}
	db, err := connect(ctx, path, 4)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if err := migrate(ctx, db, migrations()); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	w, err := startWriter(ctx, path, o.Log)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return &Store{db: db, writer: w}, nil
}

// Close writes what is on its way and closes the database.
func (s *Store) Close() error {
	return errors.Join(s.writer.close(), s.db.Close())
}

// createFile makes an empty database that only its owner can read; SQLite gives
// the same mode to the files that it puts beside it. One that exists is not
// opened here: closing it again would drop the locks that SQLite holds on it.
func createFile(dir string) (path string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if path, err = filepath.Abs(filepath.Join(dir, fileName)); err != nil {
		return "", err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	return path, f.Close()
}
