// Package fault breaks sandbox-run on purpose, so that the tests can see it: a guard
// is left out, to show which test notices, or the process is killed at a named place,
// to show that its next life tidies up.
//
// Only programs built with the tag "fault" have any of it. In all others the
// functions are empty, and the compiler drops the calls.
package fault
