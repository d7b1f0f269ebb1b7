package seccomp

import (
	"fmt"
	"math/bits"
)

// cube is a set of arguments: all in which the bits of each mask have a value. Two
// cubes share a cube or nothing, so that rules can be cut into pieces that do not
// overlap.
type cube [6]struct{ mask, value uint64 }

// meet is what two cubes share.
func (a cube) meet(b cube) (shared cube, some bool) {
	for i := range a {
		if (a[i].value^b[i].value)&a[i].mask&b[i].mask != 0 {
			return cube{}, false
		}
		a[i].mask |= b[i].mask
		a[i].value |= b[i].value
	}
	return a, true
}

// without is what a has and b has not, in pieces: one for each bit that b fixes and
// a leaves open, with that bit turned.
func (a cube) without(b cube) (pieces []cube) {
	if _, some := a.meet(b); !some {
		return []cube{a}
	}
	for i := range a {
		for open := b[i].mask &^ a[i].mask; open != 0; {
			bit := uint64(1) << (bits.Len64(open) - 1)
			open &^= bit
			piece := a
			piece[i].mask |= bit
			piece[i].value |= ^b[i].value & bit
			pieces = append(pieces, piece)
			a[i].mask |= bit
			a[i].value |= b[i].value & bit
		}
	}
	return pieces
}

// cubes are those in which a condition holds.
func (c Condition) cubes() []cube {
	if !c.Not {
		return c.between(nil, c.Low, c.High)
	}
	var list []cube
	if c.Low > 0 {
		list = c.between(list, 0, c.Low-1)
	}
	if c.High < all64 {
		list = c.between(list, c.High+1, all64)
	}
	return list
}

// between appends the cubes in which the bits that the condition sees are a number
// from low to high: the largest blocks whose members differ in their last bits alone.
func (c Condition) between(list []cube, low, high uint64) []cube {
	for {
		var last uint64 // the bits in which the block's members differ
		for last != all64 && low&(last<<1|1) == 0 && low|last<<1|1 <= high {
			last = last<<1 | 1
		}
		if low&^c.Mask == 0 { // else no number that is seen is in the block
			var block cube
			block[c.Arg].mask, block[c.Arg].value = c.Mask&^last, low
			list = append(list, block)
		}
		if low|last >= high {
			return list
		}
		low = (low | last) + 1
	}
}

// mostPieces bounds what a call is cut into: filters are at most [MaxInstructions]
// long, and each piece is a handful of them.
const mostPieces = 400

var errPieces = fmt.Errorf("its conditions need more than %d rules of an OCI runtime", mostPieces)

// cubes are those in which all conditions of a rule hold.
func (r Rule) cubes() (list []cube, err error) {
	list = []cube{{}}
	for _, c := range r.When {
		if list, err = meets(list, c.cubes()); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// meets is what the sets of two lists share.
func meets(a, b []cube) (shared []cube, err error) {
	for _, x := range a {
		for _, y := range b {
			if both, some := x.meet(y); some {
				shared = append(shared, both)
			}
		}
		if len(shared) > mostPieces {
			return nil, errPieces
		}
	}
	return shared, nil
}

// withoutAll is what is in the sets of one list and in none of the other.
func withoutAll(list, others []cube) ([]cube, error) {
	for _, other := range others {
		var left []cube
		for _, c := range list {
			left = append(left, c.without(other)...)
		}
		if list = left; len(list) > mostPieces {
			return nil, errPieces
		}
	}
	return list, nil
}

// cut is what a verdict says, in pieces that do not overlap: those of each guard as
// far as no earlier one decides, then what is left.
func (v verdict) cut() (pieces [][]cube, err error) {
	left := []cube{{}}
	for _, rule := range v.guards {
		region, err := rule.cubes()
		if err != nil {
			return nil, err
		}
		decided, err := meets(left, region)
		if err != nil {
			return nil, err
		}
		if left, err = withoutAll(left, region); err != nil {
			return nil, err
		}
		pieces = append(pieces, decided)
	}
	return append(pieces, left), nil
}
