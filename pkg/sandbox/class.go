package sandbox

import (
	"errors"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// class is the containers that can stand for one another.
type class struct {
	want    Want             // never changes
	first   *Process         // Want.First of who asked last
	wanted  bool             // some time
	asked   bool             // since shrunk
	last    int              // which of the pool's asks was for it, or served by it, last
	missed  [2]int           // the last two that found nothing
	ready   []*prepared      // oldest first
	making  []int            // for each, how many asks there were when it was begun
	took    time.Duration    // to make the last one
	awaited []chan *prepared // by those who have found nothing; see soon
	size    int64            // bytes that the last one took which was made
	target  int              // how many are to be ready
	least   int              // target is never below
	owed    int              // of target, those that runs have taken which go on
	spare   int              // fewest that were ready since shrunk
	looked  int              // of ready, where the next look begins
	shrunk  time.Time
	retryAt time.Time
	pause   time.Duration
	lineage lineage
	counted bool // what waits would be counted as runs' processes
}

// failed notes that what waited is gone, or that nothing could be made. What fails again
// and again is tried ever more seldom.
func (c *class) failed(now time.Time) {
	if now.Sub(c.retryAt) > 2*pauseMost {
		c.pause = 0
	}
	c.pause = min(max(2*c.pause, pauseFirst), pauseMost)
	c.retryAt = now.Add(c.pause)
}

// missing is how many are to be made.
func (c *class) missing() int {
	if c.counted {
		return 0
	}
	return c.target - c.owed - len(c.making) - len(c.ready)
}

// errCounted is a container whose limit of processes counts all that the server's user has: what
// waits would be taken from what runs may have.
var errCounted = errors.New("what waits would be counted for those that run")

// countsAll tells whether a container is such a one.
func countsAll(c Container) bool { return c.Isolation().Limits[LimitProcesses] == api.Degraded }
