package seccomp

import "testing"

// TestOneUserVerdicts: a program that shares its user with init changes no process
// but itself.
func TestOneUserVerdicts(t *testing.T) {
	expect(t, []expectation{
		{Options{OneUser: true}, "prlimit64", []uint64{1, 0, 1}, eperm},
		{Options{OneUser: true}, "prlimit64", []uint64{0, 0, 1}, Allow},
		{Options{OneUser: true}, "setpriority", []uint64{0, 1, 5}, eperm},
		{Options{OneUser: true}, "sched_setscheduler", []uint64{1}, eperm},
		{Options{OneUser: true, AllowAffinity: true}, "sched_setaffinity", []uint64{1}, eperm},
		{Options{OneUser: true, AllowAffinity: true}, "sched_setaffinity", []uint64{0}, Allow},
		{Options{}, "prlimit64", []uint64{1, 0, 1}, Allow},
	})
}

// TestCoreDumps: nobody lowers the limit that keeps the host's handler away.
func TestCoreDumps(t *testing.T) {
	expect(t, []expectation{
		{Options{}, "setrlimit", []uint64{4, 1}, Ignore},
		{Options{}, "setrlimit", []uint64{4 | high, 1}, Ignore},
		{Options{}, "setrlimit", []uint64{7, 1}, Allow},
		{Options{}, "prlimit64", []uint64{0, 4, 1}, Ignore},
		{Options{}, "prlimit64", []uint64{0, 4, high}, Ignore},
		{Options{}, "prlimit64", []uint64{0, 4, 0, 1}, Allow}, // asking
		{Options{}, "prlimit64", []uint64{0, 7, 1}, Allow},
		{Options{Restricted: true}, "prlimit64", []uint64{0, 4, 1}, Ignore},
		{Options{Outer: true}, "prlimit64", []uint64{0, 4, 1}, Allow},
	})
}
