-- Limits of 0 are no limits; a time of 0 is never.
CREATE TABLE keys (
  id                  TEXT    NOT NULL PRIMARY KEY,
  tenant              TEXT    NOT NULL,
  name                TEXT    NOT NULL,
  hash                BLOB    NOT NULL,
  created             INTEGER NOT NULL,
  revoked             INTEGER NOT NULL DEFAULT 0,
  last_used           INTEGER NOT NULL DEFAULT 0,
  requests_per_minute INTEGER NOT NULL DEFAULT 0,
  burst               INTEGER NOT NULL DEFAULT 0,
  concurrency         INTEGER NOT NULL DEFAULT 0,
  cpu_seconds_per_day REAL    NOT NULL DEFAULT 0,
  runs_per_day        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- One number tells every process whether it has read the keys as they are,
-- however they were changed. That a key was used changes nothing.
CREATE TABLE keys_revision (number INTEGER NOT NULL) STRICT;
INSERT INTO keys_revision VALUES (1);
CREATE TRIGGER keys_inserted AFTER INSERT ON keys
  BEGIN UPDATE keys_revision SET number = number + 1; END;
CREATE TRIGGER keys_deleted AFTER DELETE ON keys
  BEGIN UPDATE keys_revision SET number = number + 1; END;
CREATE TRIGGER keys_changed AFTER UPDATE ON keys WHEN NEW.last_used IS OLD.last_used
  BEGIN UPDATE keys_revision SET number = number + 1; END;

-- The audit. What is known at the end only is NULL until then, and stays NULL
-- where it could not be measured. The ids are ULIDs, so lines are appended.
CREATE TABLE runs (
  id                TEXT    NOT NULL PRIMARY KEY,
  started           INTEGER NOT NULL,
  tenant            TEXT    NOT NULL,
  key_id            TEXT    NOT NULL,
  request_id        TEXT    NOT NULL,
  source_sha256     TEXT    NOT NULL,
  language          TEXT    NOT NULL,
  version           TEXT    NOT NULL,
  limits            TEXT    NOT NULL,
  node              TEXT    NOT NULL,
  finished          INTEGER,
  status            TEXT,
  exit_code         INTEGER,
  cpu_seconds       REAL,
  wall_seconds      REAL,
  memory_peak_bytes INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX runs_started ON runs (started);
CREATE INDEX runs_open ON runs (id) WHERE finished IS NULL;

-- What is left of lines that were pruned.
CREATE TABLE usage (
  day          INTEGER NOT NULL,
  tenant       TEXT    NOT NULL,
  status       TEXT    NOT NULL,
  runs         INTEGER NOT NULL,
  cpu_seconds  REAL    NOT NULL,
  wall_seconds REAL    NOT NULL,
  PRIMARY KEY (day, tenant, status)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
