// Package remote is the runtime of another sandbox-server: containers are made
// there, of its toolchains, and used from here. internal/tunnel has the protocol.
//
// With several addresses the nearest healthy one of the allowed region is used. What
// fails before anything has run goes to the next address; what has begun is never
// tried again by itself: the error says that it may be.
package remote
