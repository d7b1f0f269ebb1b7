package instance

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestIDs: no id is given out twice while it is taken, all lie in the
// instance's block, and the end of the block is an error.
func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, instances-1).Draw(t, "number")
		p := NewIDs(number)
		base := FirstID + number*idsPerNumber
		var taken []int
		for range rapid.IntRange(0, 50).Draw(t, "steps") {
			if len(taken) > 0 && rapid.Bool().Draw(t, "give") {
				i := rapid.IntRange(0, len(taken)-1).Draw(t, "which")
				p.Give(taken[i])
				taken = slices.Delete(taken, i, i+1)
				continue
			}
			id, err := p.Take()
			if err != nil || slices.Contains(taken, id) || id < base || id+1 >= base+idsPerNumber || (id-base)%2 != 0 {
				t.Fatalf("id %d of block %d, %v; taken %v", id, base, err, taken)
			}
			taken = append(taken, id)
		}
	})
}

func TestIDsAreExhausted(t *testing.T) {
	p := NewIDs(3)
	seen := map[int]bool{}
	for range maxContainers {
		id, err := p.Take()
		if err != nil || seen[id] {
			t.Fatal(id, err)
		}
		seen[id] = true
	}
	if _, err := p.Take(); err == nil || !strings.Contains(err.Error(), "containers are alive") {
		t.Errorf("error %v", err)
	}
	p.Give(p.base + 10)
	if id, err := p.Take(); err != nil || id != p.base+10 {
		t.Errorf("%d, %v", id, err)
	}
}

// An id that was given back rests while others are free.
func TestIDsRest(t *testing.T) {
	p := NewIDs(0)
	first, _ := p.Take()
	p.Give(first)
	for range maxContainers - 1 {
		id, _ := p.Take()
		if id == first {
			t.Fatal("the id came back at once")
		}
		p.Give(id)
	}
	if id, _ := p.Take(); id != first {
		t.Errorf("id %d, want %d after all others", id, first)
	}
}

// The blocks fill the range that nobody else uses, and none overlaps.
func TestIDBlocks(t *testing.T) {
	if NewIDs(0).base != 0x70000000 || NewIDs(instances-1).base+idsPerNumber != 0x80000000 || 2*maxContainers > idsPerNumber {
		t.Errorf("from %#x to %#x, %d ids for %d containers", NewIDs(0).base, NewIDs(instances-1).base+idsPerNumber, idsPerNumber, maxContainers)
	}
}
