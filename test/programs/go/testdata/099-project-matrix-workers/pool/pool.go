// Package pool runs functions on a fixed number of goroutines.
package pool

import (
	"sync"
	"sync/atomic"
)

type Pool struct {
	jobs chan func()
	done atomic.Int64
	wg   sync.WaitGroup
}

func New(workers int) *Pool {
	p := &Pool{jobs: make(chan func())}
	for i := 0; i < workers; i++ {
		p.wg.Add(1)
		go func() {
			defer p.wg.Done()
			for f := range p.jobs {
				f()
			}
		}()
	}
	return p
}

// Each calls f for 0 to n-1 and waits until all of them have returned.
func (p *Pool) Each(n int, f func(i int)) {
	var all sync.WaitGroup
	all.Add(n)
	for i := 0; i < n; i++ {
		i := i
		p.jobs <- func() {
			defer all.Done()
			f(i)
			p.done.Add(1)
		}
	}
	all.Wait()
}

func (p *Pool) Done() int64 { return p.done.Load() }

func (p *Pool) Close() {
	close(p.jobs)
	p.wg.Wait()
}
