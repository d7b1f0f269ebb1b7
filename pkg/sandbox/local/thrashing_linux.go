package local

import (
	"os"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
)

// thrashing is a program that has filled its memory and goes on, at a crawl. The kernel kills for
// memory when it finds nothing to take back, and where the group was the first to read the program's
// code for a while, it finds that code, which is needed at once and read again. With 96 MiB a Ruby that
// allocates for ever went on like that for as long as it was let, read 300 MB and grew by 30 KB a
// second. So that is the limit, too: nearly all is the program's own, and what is left for the cache was
// read again once over, for faults, in each of [thrashLooks] looks.
type thrashing struct {
	at    time.Time // of the last look
	then  cgroup.MemoryUse
	looks int // in a row that saw it
}

const (
	thrashEvery = 100 * time.Millisecond // from look to look
	thrashLooks = 10
	// A limit's part that may be left for the cache, and how many bytes may be in any case: Python's
	// code keeps 3 MB.
	thrashRoom, thrashLeast = 16, 4 << 20
	// How many pages are once over in any case, and how many faults had to wait for them.
	thrashPages, thrashFaults = 64, 4
)

// look takes what the group's memory is used for.
func (t *thrashing) look(now cgroup.MemoryUse, limit int64, at time.Time) {
	if at.Sub(t.at) < thrashEvery*9/10 {
		return
	}
	then, first := t.then, t.at.IsZero()
	t.at, t.then = at, now
	onceOver := max(now.Cache/int64(os.Getpagesize()), thrashPages)
	if first || limit == 0 || now.Program < limit-max(limit/thrashRoom, thrashLeast) ||
		now.Refaults-then.Refaults < onceOver || now.MajorFaults-then.MajorFaults < thrashFaults {
		t.looks = 0
		return
	}
	t.looks++
}

// sure tells whether the program thrashes.
func (t *thrashing) sure() bool {
	return t.looks >= thrashLooks && !fault.Off("sampler", "thrash")
}
