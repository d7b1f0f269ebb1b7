package store

import (
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

func connectTo(t *testing.T, dir string) *sql.DB {
	t.Helper()
	path, err := createFile(dir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := connect(t.Context(), path, 4)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// The files are numbered from 1 without a gap, and each sets its own number.
func TestMigrationsAreNumbered(t *testing.T) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for i, name := range names {
		if want := fmt.Sprintf("%04d_", i+1); !strings.HasPrefix(filepath.Base(name), want) {
			t.Errorf("%s should begin with %s", name, want)
		}
		if want := fmt.Sprintf("\nPRAGMA user_version = %d;", i+1); strings.Count(migrations()[i], want) != 1 {
			t.Errorf("%s should say %q", name, want)
		}
	}
}

func TestMigrateContinues(t *testing.T) {
	db := connectTo(t, t.TempDir())
	first := "CREATE TABLE a (x); INSERT INTO a VALUES (1); PRAGMA user_version = 1"
	second := "ALTER TABLE a ADD COLUMN y DEFAULT 2; PRAGMA user_version = 2"
	for _, steps := range [][]string{{first}, {first, second}, {first, second}} {
		if err := migrate(t.Context(), db, steps); err != nil {
			t.Fatal(err)
		}
	}
	var x, y, version int
	err := db.QueryRowContext(t.Context(), "SELECT x, y, (SELECT user_version FROM pragma_user_version) FROM a").Scan(&x, &y, &version)
	if err != nil || x != 1 || y != 2 || version != 2 {
		t.Error(x, y, version, err)
	}
}

// A step that fails leaves nothing behind, and neither does one that forgets its
// number: it would be made again at every start.
func TestMigrateIsAllOrNothing(t *testing.T) {
	for step, want := range map[string]string{
		"CREATE TABLE a (x); CREATE TABLE a (x); PRAGMA user_version = 1": "migrate to schema 1: SQL logic error: table a already exists",
		"CREATE TABLE a (x)":                            "migrate to schema 1: the file sets user_version to 0",
		"CREATE TABLE a (x); PRAGMA user_version = 100": "the file sets user_version to 100",
	} {
		db := connectTo(t, t.TempDir())
		if err := migrate(t.Context(), db, []string{step}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", step, err, want)
		}
		var tables, version int
		err := db.QueryRowContext(t.Context(), "SELECT (SELECT count(*) FROM sqlite_schema), user_version FROM pragma_user_version").Scan(&tables, &version)
		if err != nil || tables != 0 || version != 0 {
			t.Errorf("%s left %d tables and version %d: %v", step, tables, version, err)
		}
	}
}

func TestNewerDatabaseIsRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := connectTo(t, dir).ExecContext(t.Context(), "PRAGMA user_version = 99"); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "server.db: a newer version of this program has written it (schema 99, this one knows 2)") {
		t.Error(err)
	}
}
