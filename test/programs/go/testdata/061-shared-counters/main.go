// Many goroutines, one total: mutex, atomics, RWMutex and sync.Map agree.
package main

import (
	"fmt"
	"sync"
	"sync/atomic"
)

type account struct {
	mu      sync.Mutex
	balance int
}

func transfer(from, to *account, amount int) {
	from.mu.Lock()
	from.balance -= amount
	from.mu.Unlock()
	to.mu.Lock()
	to.balance += amount
	to.mu.Unlock()
}

func parallel(n int, f func(i int)) {
	var wg sync.WaitGroup
	wg.Add(n)
	for i := 0; i < n; i++ {
		i := i
		go func() { defer wg.Done(); f(i) }()
	}
	wg.Wait()
}

func main() {
	accounts := make([]account, 5)
	for i := range accounts {
		accounts[i].balance = 1000
	}
	parallel(200, func(i int) {
		for k := 0; k < 50; k++ {
			transfer(&accounts[(i+k)%5], &accounts[(i*3+k*2+1)%5], (i+k)%7)
		}
	})
	total := 0
	for i := range accounts {
		total += accounts[i].balance
		fmt.Print(accounts[i].balance, " ")
	}
	fmt.Println("total", total)

	var hits atomic.Int64
	var highest atomic.Uint32
	parallel(100, func(i int) {
		for k := 0; k < 1000; k++ {
			hits.Add(1)
		}
		v := uint32(i * 37 % 101)
		for old := highest.Load(); v > old && !highest.CompareAndSwap(old, v); old = highest.Load() {
		}
	})
	fmt.Println("hits", hits.Load(), "highest", highest.Load())

	var seen sync.Map
	var fresh atomic.Int32
	parallel(500, func(i int) {
		if _, loaded := seen.LoadOrStore(i%42, i); !loaded {
			fresh.Add(1)
		}
	})
	fmt.Println("distinct keys", fresh.Load())

	var once sync.Once
	var runs int
	parallel(50, func(int) { once.Do(func() { runs++ }) })
	fmt.Println("once ran", runs)
}
