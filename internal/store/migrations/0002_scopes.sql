-- What a key may do beside running programs: words with blanks between them.
ALTER TABLE keys ADD COLUMN scopes TEXT NOT NULL DEFAULT '';

PRAGMA user_version = 2;
