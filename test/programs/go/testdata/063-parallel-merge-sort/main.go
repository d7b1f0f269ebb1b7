// Sorts half a million numbers with a bounded number of goroutines.
package main

import (
	"fmt"
	"slices"
	"sync"
)

type sorter struct {
	slots chan struct{}
}

func (s *sorter) sort(xs, tmp []uint32) {
	if len(xs) <= 2048 {
		slices.Sort(xs)
		return
	}
	mid := len(xs) / 2
	var wg sync.WaitGroup
	select {
	case s.slots <- struct{}{}:
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.sort(xs[:mid], tmp[:mid])
			<-s.slots
		}()
	default:
		s.sort(xs[:mid], tmp[:mid])
	}
	s.sort(xs[mid:], tmp[mid:])
	wg.Wait()
	merge(xs[:mid], xs[mid:], tmp)
	copy(xs, tmp)
}

func merge(a, b, out []uint32) {
	for k := range out {
		if len(b) == 0 || len(a) > 0 && a[0] <= b[0] {
			out[k], a = a[0], a[1:]
		} else {
			out[k], b = b[0], b[1:]
		}
	}
}

func main() {
	const n = 500_000
	xs := make([]uint32, n)
	state := uint32(2463534242)
	var sum uint64
	for i := range xs {
		state ^= state << 13
		state ^= state >> 17
		state ^= state << 5
		xs[i] = state
		sum += uint64(state)
	}
	fmt.Println("before:", xs[:4], "sum", sum)
	s := &sorter{slots: make(chan struct{}, 7)}
	s.sort(xs, make([]uint32, n))
	var after uint64
	for _, x := range xs {
		after += uint64(x)
	}
	fmt.Println("sorted:", slices.IsSorted(xs), "same sum:", sum == after)
	for i := 0; i <= 10; i++ {
		fmt.Printf("%3d%% %10d\n", i*10, xs[min(i*n/10, n-1)])
	}
	at, found := slices.BinarySearch(xs, xs[123_456])
	fmt.Println(at, found)
}
