// Package e2btest is a server that speaks E2B's public protocol, for tests of what
// speaks it, too: the control plane, and envd in each sandbox.
//
// A sandbox is real processes on this machine, in namespaces whose root user is an
// ordinary one outside, with a root of its own in memory and the host's /usr. That
// keeps paths inside true and this machine whole; it claims no isolation. It needs
// Linux and root.
//
// The test's binary is also what runs in a sandbox, as its init and its envd, so
// the test's TestMain has to call Main first.
package e2btest
