package instance

import (
	"fmt"
	"sync"
)

// User ids of containers are those from FirstID to below EndID, which neither systemd,
// nor Docker's userns-remap, nor the defaults of subuid give out. Each instance has
// a block, and each container two ids of it: one for its init and one for its
// programs, so that programs cannot reach init and no two containers that are
// alive share an id.
const (
	FirstID       = 0x70000000
	EndID         = 0x80000000
	idsPerNumber  = (EndID - FirstID) / instances
	maxContainers = idsPerNumber / 2
)

// IDs gives out the pairs of one instance's block.
type IDs struct {
	mu   sync.Mutex
	base int
	used [maxContainers]bool
	next int
}

// NewIDs returns the block of an instance's number, all of it free.
func NewIDs(number int) *IDs { return &IDs{base: FirstID + number*idsPerNumber} }

// Take returns the id of a container's init; the programs have the next one.
func (p *IDs) Take() (id int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range maxContainers {
		slot := p.next
		p.next = (p.next + 1) % maxContainers // an id rests as long as possible
		if !p.used[slot] {
			p.used[slot] = true
			return p.base + 2*slot, nil
		}
	}
	return 0, fmt.Errorf("%d containers are alive in this process, the most there are user ids for", maxContainers)
}

// Give takes back what [IDs.Take] returned.
func (p *IDs) Give(id int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.used[(id-p.base)/2] = false
}
