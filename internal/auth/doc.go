// Package auth tells who calls, and how much they may use.
//
// A key comes from one of three places: the database, where [Keys] makes and
// revokes it; the operator's configuration, as one key; or a file of keys. All
// are compared by a keyed hash, so that neither the database nor the memory of a
// server has a key that could be used. Errors and log lines never have one
// either, nor any value of the file.
//
// A key belongs to a tenant. Limits are a key's own: a tenant with two keys has
// the limits of both.
//
//	Authenticate  header → Principal   who, or a KeyError
//	Admit         Principal → release  may they now, or a LimitError
//
// Both work in memory. [Authenticator.Watch] follows what other processes change
// in the database.
package auth
