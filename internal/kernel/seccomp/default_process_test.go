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
