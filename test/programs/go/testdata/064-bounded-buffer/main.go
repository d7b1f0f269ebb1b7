// Producers and consumers around a ring buffer guarded by condition variables.
package main

import (
	"fmt"
	"sync"
)

type buffer[T any] struct {
	mu              sync.Mutex
	notEmpty, space *sync.Cond
	ring            []T
	head, n, peak   int
	closed          bool
}

func newBuffer[T any](size int) *buffer[T] {
	b := &buffer[T]{ring: make([]T, size)}
	b.notEmpty, b.space = sync.NewCond(&b.mu), sync.NewCond(&b.mu)
	return b
}

func (b *buffer[T]) put(v T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.n == len(b.ring) {
		b.space.Wait()
	}
	b.ring[(b.head+b.n)%len(b.ring)] = v
	b.n++
	b.peak = max(b.peak, b.n)
	b.notEmpty.Signal()
}

func (b *buffer[T]) take() (v T, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.n == 0 {
		if b.closed {
			return v, false
		}
		b.notEmpty.Wait()
	}
	v = b.ring[b.head]
	b.head = (b.head + 1) % len(b.ring)
	b.n--
	b.space.Signal()
	return v, true
}

func (b *buffer[T]) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.notEmpty.Broadcast()
}

func main() {
	b := newBuffer[int](4)
	var producers, consumers sync.WaitGroup
	for p := 0; p < 3; p++ {
		p := p
		producers.Add(1)
		go func() {
			defer producers.Done()
			for i := 0; i < 1000; i++ {
				b.put(p*1000 + i)
			}
		}()
	}
	sums, counts := make([]int, 5), make([]int, 5)
	for c := range sums {
		c := c
		consumers.Add(1)
		go func() {
			defer consumers.Done()
			for v, ok := b.take(); ok; v, ok = b.take() {
				sums[c] += v
				counts[c]++
			}
		}()
	}
	producers.Wait()
	b.close()
	consumers.Wait()
	total, count := 0, 0
	for c := range sums {
		total, count = total+sums[c], count+counts[c]
	}
	fmt.Println("items:", count, "sum:", total, "never over capacity:", b.peak <= 4)
}
