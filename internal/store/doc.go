// Package store keeps what a server must not forget: API keys, one line for
// every run (the audit), and the usage of each tenant by day. It is one SQLite
// database, server.db in the data directory, which several processes may have
// open: a server, and `sandbox-server keys create` beside it.
//
// What is never stored: source code, files, the values of environment variables,
// and keys themselves, of which there is a keyed hash.
//
// Times are milliseconds since 1970, days are days since then, both in UTC.
//
// To change the schema, add a file to migrations/ with the next number, which it
// also sets as PRAGMA user_version. A file that was released never changes.
package store
