package local

import (
	"os"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
)

// Each look sees so much more of everything.
func TestThrashingLooks(t *testing.T) {
	const limit = 1 << 30
	cache := int64(8 << 20)
	onceOver := cache / int64(os.Getpagesize())
	full := int64(limit) - cache
	for name, tc := range map[string]struct {
		program, refaults, faults int64
		every                     time.Duration
		pause                     int // a look that sees nothing read again
		want                      int // at which look it is sure; 0 is never
	}{
		"thrashes":                        {full, onceOver, thrashFaults, thrashEvery, 0, thrashLooks + 1},
		"is looked at all the time":       {full, onceOver, thrashFaults, thrashEvery / 5, 0, 5*thrashLooks + 1},
		"has room":                        {limit - limit/8, onceOver, thrashFaults, thrashEvery, 0, 0},
		"reads less than it keeps":        {full, onceOver - 1, thrashFaults, thrashEvery, 0, 0},
		"reads what is not its own pages": {full, onceOver, thrashFaults - 1, thrashEvery, 0, 0},
		"got on meanwhile":                {full, onceOver, thrashFaults, thrashEvery, 8, 8 + thrashLooks},
	} {
		t.Run(name, func(t *testing.T) {
			var th thrashing
			var use cgroup.MemoryUse
			at, got := time.Now(), 0
			for look := 1; look <= 60 && got == 0; look++ {
				use.Program, use.Cache = tc.program, cache
				if look != tc.pause {
					use.Refaults += tc.refaults
					use.MajorFaults += tc.faults
				}
				at = at.Add(tc.every)
				if th.look(use, limit, at); th.sure() {
					got = look
				}
			}
			if got != tc.want {
				t.Errorf("sure at look %d, expected %d", got, tc.want)
			}
		})
	}
	var th thrashing
	for range 60 {
		if th.look(cgroup.MemoryUse{Program: limit}, 0, time.Now()); th.sure() {
			t.Fatal("a program without a limit thrashes")
		}
	}
}
